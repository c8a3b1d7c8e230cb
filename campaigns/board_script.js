// The data of the blackboard as the argument, lines of {picture, given} in: the points of its curves.
"use strict";
const { curves } = require("./assets.js")("engine", "units", "form", "blackboard").board;
const board = JSON.parse(process.argv[2]);
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const asked = JSON.parse(line);
  const picture = board.pictures.find(({ key }) => key === asked.picture);
  process.stdout.write(JSON.stringify(curves(board, picture, asked.given).lines.map((one) => one.points)) + "\n");
});
