// The scripts of the pages, run as a page runs them: one after another, with one global.
"use strict";
const { readFileSync } = require("node:fs");
const path = require("node:path");
const { runInThisContext } = require("node:vm");
globalThis.backsolve = {};
module.exports = (...names) => {
  for (const name of names) runInThisContext(readFileSync(path.join(__dirname, "../backsolve/site/assets", `${name}.js`), "utf8"), { filename: name });
  return globalThis.backsolve;
};
