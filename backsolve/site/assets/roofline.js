// The roofline with the point that a step works at: what a chip computes in a second over what it computes for each byte it reads.
// The trees are those of derive/show/roofline.py.
"use strict";

(function (root) {
  const { valueOf } = typeof module === "undefined" ? root.backsolve.engine : require("./solver.js");

  const TIMES = ["step_time", "compute_time", "memory_time"]; // what the place of a step under the roof follows from

  /** The point of a step, from its values by quantity name. */
  const pointOf = (roof, values) => [roof.intensity, roof.rate].map((tree) => valueOf(tree, { ...roof.given, ...values }));

  /** A roof from one end of a scale over its ridge to the other. */
  function lineOf(roof, peaks, scale) {
    return [scale.low, valueOf(roof.ridge, peaks), scale.high].map((intensity) => [intensity, valueOf(roof.attainable, { ...peaks, intensity })]);
  }
  /** The peaks as far as a step sustains them. */
  const sustainedOf = (all) => ({ peak_flops: all.mfu * all.peak_flops, hbm_bandwidth: all.mbu * all.hbm_bandwidth });

  /** How FLOPs of attention are counted that run at a rate of their own. */
  const counted = ({ attention_time: time, attention_rate_ratio: ratio = 1 }) => (time && ratio !== 1 ? `; a FLOP of attention, at ${Number(ratio.toPrecision(3))} of the rate, counts as ${Number((1 / ratio).toPrecision(3))}` : "");

  const decade = (value, to) => 10 ** to(Math.log10(value));

  /** The picture, `where` in words: the roof of what is sustained with the point of the step, and above it the roof of the peaks where that is another. */
  function figure(roof, values, where = "") {
    const { element, picture, scaleOf, show } = root.backsolve.form, [rowX, rowY] = roof.rows;
    const all = { ...roof.given, ...values }, point = pointOf(roof, values), sustained = sustainedOf(all);
    const bends = [all, sustained].map((peaks) => valueOf(roof.ridge, peaks)), places = [...bends, point[0]];
    const x = scaleOf(decade(Math.min(...places) / 3, Math.floor), decade(Math.max(...places) * 3, Math.ceil));
    const lines = [
      ...(all.mfu < 1 || all.mbu < 1 ? [{ kind: "term", label: "peaks of the chip", points: lineOf(roof, all, x) }] : []),
      { kind: "answer", label: "at the shares that are sustained", points: lineOf(roof, sustained, x) }];
    const least = Math.min(point[1], ...lines.map((line) => line.points[0][1])), y = scaleOf(decade(least, Math.floor), 3 * all.peak_flops);
    const told = `the step attains ${show(rowY, point[1])} ${roof.of} at ${show(rowX, point[0])}; the roof of what is sustained bends at ${show(rowX, bends[1])}${counted(all)}`;
    return element("figure", { class: "solver-figure" },
      picture({ x: { row: { ...rowX, units: [[0, 1, ""]] }, scale: x, label: roof.called }, y: { row: rowY, scale: y }, lines: lines.length > 1 ? lines : [{ ...lines[0], label: "" }], point, told }),
      element("figcaption", {}, `Roofline: ${where}${told}`));
  }

  const roofline = { TIMES, pointOf, figure };
  if (typeof module !== "undefined") module.exports = roofline;
  else root.backsolve.roofline = roofline;
})(globalThis);
