// Trees as MathML, as derive/show/mathml.py draws them: pages carry the trees alone, which are a third as long.
"use strict";

(function (root) {
  const TERMS = 0, FACTORS = 1, WHOLE = 2, SENSE = { "=": "=", "<=": "≤", ">=": "≥", "<": "&lt;", ">": "&gt;" };
  const FUNCTIONS = { Max: "max", Min: "min", log: "ln" };

  /** A tree drawn; `symbols` has the MathML of each quantity. */
  function inMathml(tree, symbols) {
    const alone = (part) => drawn(part)[0];
    const closed = (part, least) => { const [text, closely] = drawn(part); return closely >= least ? text : inParentheses(text); };

    function drawn(part) {
      if (typeof part === "string") return [symbols[part], WHOLE];
      if (typeof part === "number") return part < 0 ? [`<mo>−</mo><mn>${-part}</mn>`, TERMS] : [`<mn>${part}</mn>`, WHOLE];
      const [operation, ...inner] = part;
      switch (operation) {
        case "+": return [alone(inner[0]) + inner.slice(1).map(added).join(""), TERMS];
        case "-": return [`<mo>−</mo>${closed(inner[0], FACTORS)}`, TERMS];
        case "*": return [inner.slice(1).reduce(multiplied, firstFactor(inner[0])), FACTORS];
        case "/":
          if (isNegative(inner[0])) return drawn(["-", ["/", negated(inner[0]), inner[1]]]);
          return [`<mfrac>${grouped(alone(inner[0]))}${grouped(alone(inner[1]))}</mfrac>`, FACTORS];
        case "**": return [isHalf(inner[1]) ? `<msqrt>${alone(inner[0])}</msqrt>` : raised(...inner), FACTORS];
        case "sqrt": return [`<msqrt>${alone(inner[0])}</msqrt>`, FACTORS];
      }
      return [`<mi>${FUNCTIONS[operation] || operation}</mi><mo>\u2061</mo>${inParentheses(inner.map(alone).join("<mo>,</mo>"))}`, FACTORS];
    }
    const added = (term) => (isNegative(term) ? `<mo>−</mo>${closed(negated(term), FACTORS)}` : `<mo>+</mo>${alone(term)}`);
    const firstFactor = (part) => closed(part, isNegative(part) ? TERMS : FACTORS);
    const multiplied = (before, factor) =>
      before + (typeof factor === "number" ? "<mo>·</mo>" : '<mo rspace="0.17em">\u2062</mo>') + closed(factor, isNegative(factor) ? WHOLE : FACTORS);
    function raised(base, exponent) {
      const above = grouped(inALine(exponent)), text = closed(base, WHOLE);
      if (text.startsWith("<msub>")) return `${text.replace("<msub>", "<msubsup>").slice(0, -"</msub>".length)}${above}</msubsup>`;
      const hasExponent = !text.startsWith('<mrow><mo stretchy="') && (text.includes("<msup>") || text.includes("<msubsup>"));
      return `<msup>${hasExponent ? inParentheses(text) : text}${above}</msup>`;
    }
    const inALine = (part) => (Array.isArray(part) && part[0] === "/" ? `${closed(part[1], FACTORS)}<mo>/</mo>${closed(part[2], WHOLE)}` : alone(part));
    return alone(withoutOnes(tree));
  }

  const relationInMathml = (left, sense, right, symbols) => `${inMathml(left, symbols)}<mo>${SENSE[sense]}</mo>${inMathml(right, symbols)}`;

  /** A tree without factors of 1, which are there for their unit alone. */
  function withoutOnes(tree) {
    if (!Array.isArray(tree)) return tree;
    const [operation, ...inner] = [tree[0], ...tree.slice(1).map(withoutOnes)];
    if (operation === "/" && inner[1] === 1) return inner[0];
    if (operation !== "*") return [operation, ...inner];
    const left = inner.filter((factor) => factor !== 1);
    return left.length > 1 ? ["*", ...left] : left.length ? left[0] : 1;
  }
  const isHalf = (tree) => Array.isArray(tree) && tree[0] === "/" && tree[1] === 1 && tree[2] === 2;
  const isNegative = (tree) =>
    Array.isArray(tree) ? tree[0] === "-" || ((tree[0] === "*" || tree[0] === "/") && isNegative(tree[1])) : typeof tree === "number" && tree < 0;
  function negated(tree) {
    if (!Array.isArray(tree)) return -tree;
    return tree[0] === "-" ? tree[1] : [tree[0], negated(tree[1]), ...tree.slice(2)];
  }
  function inParentheses(text) {
    const grows = text.includes("<mfrac>") || text.includes("<msqrt>");
    return `<mrow><mo stretchy="${grows}">(</mo>${text}<mo stretchy="${grows}">)</mo></mrow>`;
  }
  function grouped(text) {
    let depth = 0, ends = 0;
    for (const [tag] of text.matchAll(/<[^>]*>/g)) {
      if (!tag.endsWith("/>")) depth += tag.startsWith("</") ? -1 : 1;
      if (depth === 0) ends += 1;
    }
    return ends === 1 ? text : `<mrow>${text}</mrow>`;
  }

  const mathml = { inMathml, relationInMathml, withoutOnes };
  if (typeof module === "undefined") (root.backsolve = root.backsolve || {}).mathml = mathml;
  else module.exports = mathml;
})(this);
