// The derivation of an answer with its numbers, to be pasted. The site printed the formulas: in LaTeX @name@ is a quantity, and * multiplies.
"use strict";

(function () {
  const { show } = backsolve.form;

  const FIGURE = /^(\$?)(-?[0-9.]+)(?:e([+-][0-9]+))?([kMBT]?)([ /].*)?$/, POWERS = { "": 0, k: 3, M: 6, B: 9, T: 12 };
  const SPACED_BY_TEX = /(?<=\\right\)) \\, | \\, (?=\\(?:left\(|max|min|ln))/g; // as in derive/quantities/formula.py
  const SPECIAL = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}" };
  const escaped = (text) => text.replace(/[\\&%$#_{}~^]/g, (sign) => SPECIAL[sign] || `\\${sign}`);

  /** A value in the unit people use, as LaTeX. */
  function valueInLatex(row, value) {
    const text = show(row, value), found = FIGURE.exec(text);
    if (!found) return `\\text{${escaped(text)}}`;
    const [, dollar, figure, power, count, behind] = found, unit = (dollar ? "USD" : "") + (behind || "").trim(), ten = Number(power || 0) + POWERS[count];
    const micro = unit.startsWith("µ") ? "\\mu" : "";
    return figure + (ten ? ` \\cdot 10^{${ten}}` : "") + (unit ? `\\,${micro}\\text{${escaped(unit.replace(/^µ/, ""))}}` : "");
  }

  /** A formula with a text for each quantity: in brackets where it is raised and has a unit or a power of its own. */
  function filled(latex, put, times) {
    const with_ = latex.replace(/@(\w+)@(\^?)/g, (_, name, raised) => {
      const text = put(name);
      return (raised && /\^|\\,/.test(text) ? `\\left(${text}\\right)` : text) + raised;
    });
    return with_.replaceAll(" * ", times).replace(SPACED_BY_TEX, " ");
  }
  const inSymbols = (latex, quantities) => filled(latex, (name) => quantities[name].latex, " \\, ");
  const inNumbers = (latex, values, quantities) => filled(latex, (name) => valueInLatex(quantities[name], values[name]), " \\cdot ");

  /** A quantity between two values of which either may be none, and one that a value is a bound of. */
  function between(row, low, high) {
    const below = low > row.floor ? `${valueInLatex(row, low)} \\leq ` : "", above = Number.isFinite(high) && high !== row.ceiling ? ` \\leq ${valueInLatex(row, high)}` : "";
    return below || above ? `${below}${row.latex}${above}` : `${row.latex} \\text{ ${escaped(row.domain)}}`;
  }
  const OR = { lower: " or more", upper: " or less" }, SIGN = { lower: "\\geq", upper: "\\leq" };

  /** The lines of an answer: the equation, its form for the unknown, the numbers put in, and which way the value is a bound. */
  function linesOf({ equation, unknown, answer, values, span }, quantities) {
    const row = quantities[unknown], { latex, text } = equation.stated, stated = { latex: inSymbols(latex, quantities), text, isStated: true };
    if (!answer) return [stated, { latex: "\\text{no answer}", text: "no answer" }];
    if (answer.kind !== "point") return [stated, { latex: between(row, answer.low, answer.high), text: `${unknown}: ${span}` }];
    const value = ` = ${show(row, answer.value)}`, valued = ` = ${valueInLatex(row, answer.value)}`, where = answer.regime.plain, lines = [stated];
    if (answer.form) {
      const numbers = answer.form.text.replace(/[a-z_]\w*(?!\w|\()/g, (name) => (name in values ? inBrackets(show(quantities[name], values[name])) : name));
      const solved = { latex: `${row.latex} = ${inSymbols(answer.form.latex, quantities)}`, text: `${unknown} = ${answer.form.text}` };
      lines.push(...(solved.text === text ? [] : [solved]), { latex: `${row.latex} = ${inNumbers(answer.form.latex, values, quantities)}${valued}`, text: `${unknown} = ${numbers}${value}` });
    } else lines.push({ latex: row.latex + valued, text: unknown + value });
    if (!answer.bound && !where) return lines;
    const sign = SIGN[answer.bound] || "=", known = where ? ` \\quad \\text{(${escaped(where)})}` : "";
    return [...lines, { latex: `${row.latex} ${sign} ${valueInLatex(row, answer.value)}${known}`, text: `${unknown}${value}${OR[answer.bound] || ""}${where ? `   where ${where}` : ""}` }];
  }
  const inBrackets = (text) => (/^[0-9.]+$/.test(text) ? text : `(${text})`);

  /** All of it in each style. */
  function derivation(asked, quantities) {
    const { equation, unknown, values } = asked, lines = linesOf(asked, quantities), reference = `${equation.id}@${equation.version}`;
    const others = equation.symbols.filter((name) => name !== unknown), command = `backsolve cite ${equation.id} --as bibtex`;
    const given = `Given: ${others.map((name) => `$${quantities[name].latex} = ${valueInLatex(quantities[name], values[name])}$`).join(", ")}.`;
    return {
      LaTeX: [
        "% the preamble needs \\usepackage{amsmath}, and \\allowdisplaybreaks where a route is longer than a page", `% the entries that \\cite names: ${command}`,
        "\\begin{gather*}", lines.map(({ latex, isStated }) => latex + (isStated ? ` \\tag{${escaped(reference)}}` : "")).join(" \\\\\n"), "\\end{gather*}",
        given, `Equations: \\cite{backsolve:${reference.replace("@", ":v")}}.`,
      ].join("\n"),
      Markdown: [`\`${reference}\`:`, "", ...lines.flatMap(({ latex }) => [`$$${latex}$$`, ""]), given].join("\n"),
      text: [
        ...lines.map(({ text, isStated }) => text + (isStated ? `   (${reference})` : "")),
        `given ${others.map((name) => `${name} = ${show(quantities[name], values[name])}`).join(", ")}`, command,
      ].join("\n"),
    };
  }

  backsolve.derivation = { derivation, inSymbols, valueInLatex };
})();
