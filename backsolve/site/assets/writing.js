// A solution with its numbers put in, to be pasted: as LaTeX, as Markdown, and as plain text.
"use strict";

(function (root) {
  const { mathml, form } = typeof module === "undefined" ? root.backsolve : { mathml: require("./mathml.js"), form: require("./form.js") };
  const TERMS = 0, FACTORS = 1, WHOLE = 2; // how closely a text holds together
  const isPart = (tree) => Array.isArray(tree) && tree[0] === "/" && tree[1] === 1 && Number.isInteger(tree[2]);
  const SPACED_BY_TEX = /(?<=\\right\)) \\, | \\, (?=\\(?:left\(|max|min|ln))/g; // as in derive/quantities/formula.py

  const CALLED = { Max: "max", Min: "min", log: "ln", exp: "exp" };
  const LATEX = {
    closed: (text) => `\\left(${text}\\right)`, joined: (factors, times) => factors.join(times).replace(SPACED_BY_TEX, " "), root: (text, degree) => `\\sqrt${degree === 2 ? "" : `[${degree}]`}{${text}}`,
    over: (above, below) => [`\\frac{${above[0]}}{${below[0]}}`, WHOLE], raised: (base, exponent) => `${base}^{${exponent}}`,
    called: (name, inner) => `\\${CALLED[name]}\\left(${inner.join(", ")}\\right)` };
  const PLAIN = {
    closed: (text) => `(${text})`, joined: (factors) => factors.join("*"), root: (text, degree) => (degree === 2 ? `sqrt(${text})` : null),
    over: ([above, a], [below, b]) => [`${a === TERMS ? `(${above})` : above}/${b < WHOLE ? `(${below})` : below}`, FACTORS],
    raised: (base, exponent) => `${base}**${/^\w+$/.test(exponent) ? exponent : `(${exponent})`}`, called: (name, inner) => `${CALLED[name]}(${inner.join(", ")})` };

  /** A tree as it is written by hand: no factors of 1, what is taken away behind what is there, and the sign of a fraction before it. */
  function tidied(tree) {
    if (!Array.isArray(tree)) return tree;
    const [operation, ...inner] = [tree[0], ...tree.slice(1).map(tidied)], taken = (part) => (Array.isArray(part) ? part[0] === "-" : part < 0), without = (part) => (Array.isArray(part) ? part[1] : -part);
    if (operation === "+") return ["+", ...inner.filter((part) => !taken(part)), ...inner.filter(taken)];
    return ["*", "/"].includes(operation) && taken(inner[0]) ? ["-", tidied([operation, without(inner[0]), ...inner.slice(1)])] : [operation, ...inner];
  }

  /** A tree written in a style; `put` has the text of each quantity. */
  function written(tree, style, put, times = " \\, ") {
    const closed = ([text, closely], least) => (closely >= least ? text : style.closed(text));
    function drawn(part) {
      if (typeof part === "string") return [put(part), WHOLE];
      if (typeof part === "number") return [String(part), part < 0 ? TERMS : WHOLE];
      const [operation, ...inner] = part;
      switch (operation) {
        case "+": return [inner.slice(1).reduce((before, term) => added(before, term), drawn(inner[0])[0]), TERMS];
        case "-": return [`-${closed(drawn(inner[0]), FACTORS)}`, TERMS];
        case "*": return [style.joined(inner.map((factor) => closed(drawn(factor), FACTORS)), times), FACTORS];
        case "/": return style.over(drawn(inner[0]), drawn(inner[1]));
        case "**": return [(isPart(inner[1]) && style.root(drawn(inner[0])[0], inner[1][2])) || style.raised(base(inner[0]), drawn(inner[1])[0]), WHOLE];
        case "sqrt": return [style.root(drawn(inner[0])[0], 2), WHOLE];
      }
      return [style.called(operation, inner.map((one) => drawn(one)[0])), WHOLE];
    }
    /** What is raised: in brackets where it is made up of parts, has a power of its own, or a unit behind it. */
    const base = (part) => { const text = drawn(part)[0]; return Array.isArray(part) || /[\^ *,]/.test(text) ? style.closed(text) : text; };
    const added = (before, term) => {
      const text = drawn(term)[0];
      return Array.isArray(term) && term[0] === "-" ? `${before} - ${closed(drawn(term[1]), FACTORS)}` : text.startsWith("-") ? `${before} - ${text.slice(1)}` : `${before} + ${text}`;
    };
    return drawn(tidied(mathml.withoutOnes(tree)))[0];
  }

  // -- values --------------------------------------------------------------------------------------------------------------------

  const FIGURE = /^(\$?)(-?[0-9.]+)(?:e([+-][0-9]+))?([kMBT]?)([ /].*)?$/, POWERS = { "": 0, k: 3, M: 6, B: 9, T: 12 };
  const escaped = (text) => text.replace(/[\\&%$#_{}~^]/g, (sign) => ({ "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}" })[sign] || `\\${sign}`);

  /** A value in the unit people use, as LaTeX. */
  function valueInLatex(row, value) {
    const text = form.show(row, value), found = FIGURE.exec(text);
    if (!found) return `\\text{${escaped(text)}}`;
    const [, dollar, figure, power, count, behind] = found, unit = (dollar ? "USD" : "") + (behind || "").trim(), ten = Number(power || 0) + POWERS[count];
    const micro = unit.startsWith("µ") ? "\\mu" : "";
    return figure + (ten ? ` \\cdot 10^{${ten}}` : "") + (unit ? `\\,${micro}\\text{${escaped(unit.replace(/^µ/, ""))}}` : "");
  }
  /** A quantity between two values of which either may be none, and one that a value is a bound of. */
  function between(row, low, high) {
    const [below, above] = [low > row.floor ? `${valueInLatex(row, low)} \\leq ` : "", Number.isFinite(high) && high !== row.ceiling ? ` \\leq ${valueInLatex(row, high)}` : ""];
    return below || above ? `${below}${row.latex}${above}` : `${row.latex} \\text{ ${escaped(row.domain)}}`;
  }
  const bounded = (row, value, bound) => `${row.latex} ${{ lower: "\\geq", upper: "\\leq" }[bound] || "="} ${valueInLatex(row, value)}`;
  const where = (regime) => (regime && regime.plain ? { latex: ` \\quad \\text{(${escaped(regime.plain)})}`, text: `   where ${regime.plain}` } : { latex: "", text: "" });

  /** The same in plain text, in brackets where it has a unit. */
  const valueInText = (row, value) => { const text = form.show(row, value); return /^[0-9.]+$/.test(text) ? text : `(${text})`; };

  // -- a whole solution ----------------------------------------------------------------------------------------------------------

  const SENSE = { "=": "=", "<=": "\\leq", ">=": "\\geq", "<": "<", ">": ">" };

  /**
   * The lines of a solution, `steps` of {reference, left, sense, right, makes, solved, values, result}: each equation as it is, solved for what
   * it makes (`solved` is null where there is no closed form), with the numbers in it, and the result in words of LaTeX and of plain text.
   */
  function lines(steps, quantities) {
    const symbol = (name) => quantities[name].latex, name = (one) => one;
    return steps.flatMap(({ reference, left, sense, right, makes, solved, values, result }) => {
      const stated = { reference, latex: `${symbol(left)} ${SENSE[sense]} ${written(right, LATEX, symbol)}`, text: `${left} ${sense} ${written(right, PLAIN, name)}` };
      if (!solved) return [stated, { latex: result.latex, text: result.text }];
      const alone = { latex: `${symbol(makes)} = ${written(solved, LATEX, symbol)}`, text: `${makes} = ${written(solved, PLAIN, name)}` };
      const put = written(solved, LATEX, (one) => valueInLatex(quantities[one], values[one]), " \\cdot ");
      const numbers = { latex: `${symbol(makes)} = ${put} ${result.latex}`, text: `${makes} = ${written(solved, PLAIN, (one) => valueInText(quantities[one], values[one]))} ${result.text}` };
      return [stated, ...(alone.text === stated.text ? [] : [alone]), numbers];
    });
  }

  /** All of a solution in each style: `said` lines above and below its steps, `given` pairs of a name and its value or the ends of its range. */
  function solution({ steps, above = [], below = [], given, quantities }) {
    const all = [...above, ...lines(steps, quantities), ...below], ids = steps.map(({ reference }) => reference.split("@")[0]);
    const tagged = ({ latex, reference }) => latex + (reference ? ` \\tag{${escaped(reference)}}` : "");
    const givens = `Given: ${given.map(([name, ends]) => `$${quantities[name].latex} = ${ends.map((one) => valueInLatex(quantities[name], one)).join(" \\text{ to } ")}$`).join(", ")}.`;
    const command = `backsolve cite ${ids.join(" ")} --as bibtex`;
    return {
      LaTeX: [
        "% the preamble needs \\usepackage{amsmath}, and \\allowdisplaybreaks where a route is longer than a page", `% the entries that \\cite names: ${command}`, "\\begin{gather*}", all.map(tagged).join(" \\\\\n"), "\\end{gather*}",
        givens, `Equations: \\cite{${steps.map(({ reference }) => `backsolve:${reference.replace("@", ":v")}`).join(",")}}.`].join("\n"),
      Markdown: [...all.flatMap(({ latex, reference }) => [...(reference ? [`\`${reference}\`:`, ""] : []), `$$${latex}$$`, ""]), givens].join("\n"),
      text: [
        ...all.map(({ text, reference }) => text + (reference ? `   (${reference})` : "")),
        `given ${given.map(([name, ends]) => `${name} = ${ends.map((one) => form.show(quantities[name], one)).join(" to ")}`).join(", ")}`, command].join("\n") };
  }

  const writing = { LATEX, PLAIN, between, bounded, solution, tidied, valueInLatex, where, written };
  if (typeof module !== "undefined") module.exports = writing;
  else root.backsolve.writing = writing;
})(globalThis);
