// What a person types for a quantity, in SI, as derive/units.py reads it; a bare number is in the unit that is shown beside it.
"use strict";

(function () {
  const FIGURE = /^(\$?)\s*([+-]?(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+)?)/i;
  const RANGE = /\.\.|…|±|\+\/?-|\d\s*[-–—]\s*\d/, LONGEST = 200;
  const PER_TOKENS = /\/\s*(?:1\s*)?(?:([km])|(million|thousand))\s*(?:tok(?:en)?s?)?\s*(?=\/|$)/gi;
  const CHIP_HOUR = /\/\s*(?:GPU|chip|accelerator)s?\s*[-·*]?\s*(?=(?:h|hr|hrs|hour|hours|s|d|day|days)\b)/gi;

  class Unreadable extends Error {}
  const refuse = (why) => { throw new Unreadable(why); };
  const quoted = (text) => `'${text.length > 58 ? `${text.slice(0, 55)}...` : text}'`;

  /** A unit of the table: its size in base units and its exponents over the bases. */
  function wordOf(word) {
    if (word === "m") refuse("has the unit 'm': is that min or M?");
    return backsolve.units.words[word] || refuse(`has the unknown unit ${quoted(word)}`);
  }
  const isBits = (word) => /(b|bit|bits)$/.test(word) && word in backsolve.units.words;

  /** The unit a text spells: what a number of it is multiplied and divided by, and its dimension, null where it names no unit. */
  function unitOf(text, ofBytes) {
    const { bases, suffixes } = backsolve.units, [above, ...below] = text.split("/").map((part) => part.split(" ").filter(Boolean));
    let size = 1, under = 1;
    if (above[0] in suffixes && !(ofBytes && above.join(" ") === "B")) size = suffixes[above.shift()];
    if (!above.length && !below.length) return { size, under, dimension: null };
    if (above.length > 1 || below.some((words) => words.length !== 1)) refuse(`has the unit ${quoted(text)}, which cannot be read`);
    const words = [...above, ...below.flat()], bits = words.find(isBits);
    if (bits && !words.includes("s")) refuse(`is in bits, but a size is in bytes: write ${bits.replace(/[bits]+$/, "")}B. Only rates are in bits, such as Gb/s`);
    const dimension = bases.map(() => 0);
    words.forEach((word, at) => {
      const [own, ...exponents] = wordOf(word), isAbove = at < above.length;
      if (isAbove) size *= own; else under *= own;
      exponents.forEach((power, base) => { dimension[base] += isAbove ? power : -power; });
    });
    return { size, under, dimension };
  }

  const wanted = (row) => (row.unit === "1" ? backsolve.units.bases.map(() => 0) : unitOf(row.unit, true).dimension);
  function spelled(dimension) {
    const each = (sign, written) => dimension.flatMap((power, at) => Array.from({ length: Math.max(sign * power, 0) }, () => written(backsolve.units.bases[at])));
    return (each(1, (base) => base).join("*") || "1") + each(-1, (base) => `/${base}`).join("");
  }

  /** Refuses a unit of another dimension than the quantity's; "/token" may be dropped, except from a price. */
  function compare(row, { size, dimension }) {
    if (dimension === null) {
      if (row.unit === "s" && size !== 1) refuse("has an unknown suffix for a time: write ms, s, min, h or d, or a number of seconds");
      return;
    }
    const { bases } = backsolve.units, whole = wanted(row), token = bases.indexOf("token"), price = whole[bases.indexOf("USD")];
    const without = whole.map((power, at) => (at === token && power === -1 && !price ? 0 : power));
    if (![whole, without].some((one) => String(one) === String(dimension))) refuse(`is in ${spelled(dimension)}`);
  }

  /** A unit as its parts: "per" is a stroke, a GPU-h an hour of one, and in prices M, 1M and million tokens are MTok. */
  function asPeopleWrite(row, rest) {
    const parts = rest.replace(/(?:^|\s+)per\s+/g, "/").replace(CHIP_HOUR, "/");
    if (!row.unit.includes("USD") || !row.unit.includes("token")) return parts;
    return parts.replace(PER_TOKENS, (all, suffix, word) => (suffix === "m" ? all : `/${suffix || (word.toLowerCase() === "million" ? "M" : "k")}Tok`));
  }

  // A division keeps the digits that a product with a power of ten below one would lose.
  const scaled = (value, size) => (size < 1 && Number.isInteger(1 / size) ? value / (1 / size) : value * size);

  function valueOf(row, typed, unit) {
    const text = typed.trim().replace(/\s/g, " ").replace("−", "-");
    if (text.length > LONGEST) refuse(`has ${text.length} characters, and at most ${LONGEST} are read`);
    if (row.type && text.toLowerCase() in backsolve.units.types) return backsolve.units.types[text.toLowerCase()];
    if (!text) refuse("is empty");
    if (text.includes(",")) refuse("has a comma, which may group thousands, stand for a decimal point or part a list: write 1000 or 1_000 or 1.5");
    if (RANGE.test(text)) {
      const written = text.replace(/([\w%])\s*[-–—]\s*(?=\d)/g, "$1..");
      refuse(`looks like a range, which is written low..high or middle±half${written === text ? "" : ` (${written})`}`);
    }
    const found = FIGURE.exec(text) || refuse("does not begin with a number"), [, dollar, figure] = found;
    const value = Number(figure.replaceAll("_", "")), behind = text.slice(found[0].length).trim();
    if (value && Math.abs(value) < 2.2250738585072014e-308) refuse("is nearer to 0 than 2.23e-308, the least that can be calculated with");
    if (behind === "%") return row.unit === "1" && row.low < 1 ? value / 100 : refuse("is a percentage, but only shares may be percentages");
    if (row.type && /^-?bits?$/.test(behind)) return value / 8;
    const rest = asPeopleWrite(row, behind), own = dollar ? rest.replace(/^[^/]*/, "$& $$") : rest;
    if (!own) return scaled(value, unit);
    const one = unitOf(own, row.unit.includes("byte"));
    compare(row, one);
    return scaled(value, one.size) / one.under;
  }

  /** The value [SI] of a text for a quantity, `unit` being the size [SI] of a bare number; or what is the matter with it. */
  function read(row, typed, unit) {
    try {
      return { value: valueOf(row, typed, unit) };
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      return { unreadable: `is ${row.unit === "1" ? "a plain number" : `in ${row.unit}`}; ${quoted(typed)} ${error.message}` };
    }
  }

  backsolve.reading = { read };
})();
