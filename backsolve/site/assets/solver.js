// The equations on numbers: any quantity of an equation out of all the others, from the trees in the page.
// What derive/trees.py, derive/expressions and derive/solving/one_equation.py do in Python is done here in the same order;
// tests/backsolve/site/test_solver_script.py holds one against the other. No page is touched, nothing is executed that is data.
"use strict";

(function (root) {
  const { OF_PAIRS, isBelow, minus, over, plus } = typeof module === "undefined" ? root.backsolve.digits : require("./digits.js");
  const HOLDS = 1e-9; // relative difference up to which two sides count as equal
  const LAST_DIGITS = 1e-13; // and up to which numbers may differ for no other reason than that they were rounded
  const ROUNDING = 1e-15; // by what share of itself a number may be off for having been worked out
  const LOOSE = 1e-3; // share of a root beside which an equation that holds to a billionth there too says nothing of it
  const PAST = 1e-2; // up to what share of an end of a domain a root beyond it may be for rounding alone
  const EXACTLY = 0, ROUNDED = 1, NEARLY = 2;
  const FAR = 1e6, GRID = 2000, LEAST = 1e-15, SPARSE = 50, SPARSE_FLAT = 16; // of a search: how far beyond what is met in practice, and how closely

  // -- trees ---------------------------------------------------------------------------------------------------------------------

  const FLOATS = {
    "+": (a, b) => a + b,
    "*": (a, b) => a * b,
    "/": (a, b) => (b === 0 ? NaN : a / b),
    "**": (a, b) => (a === 0 && b < 0 ? NaN : Math.pow(a, b)),
    "-": (a) => -a,
    sqrt: Math.sqrt, log: (a) => (a > 0 ? Math.log(a) : NaN), exp: Math.exp, Max: Math.max, Min: Math.min,
    number: (a) => a,
  };

  /** What a tree comes to at values by quantity name; NaN off its domain. */
  function valueOf(tree, values, by = FLOATS) {
    if (typeof tree === "string") return by.number(values[tree]);
    if (!Array.isArray(tree)) return by.number(tree);
    const act = by[tree[0]], first = valueOf(tree[1], values, by);
    if (tree.length === 2) return act(first);
    let made = first;
    for (let place = 2; place < tree.length; place++) made = act(made, valueOf(tree[place], values, by));
    return made;
  }
  const precise = (tree, values) => valueOf(tree, values, OF_PAIRS);

  /** What a tree comes to, and its derivative by each of its quantities, worked out backwards from the whole. */
  function slopes(tree, values) {
    const found = {};
    const worked = (part) => {
      if (!Array.isArray(part)) return { tree: part, value: valueOf(part, values), parts: [] };
      const parts = part.slice(1).map(worked);
      return { tree: part, value: valueOf([part[0], ...parts.map((one) => one.value)], values), parts };
    };
    const spread = (node, weight) => {
      if (typeof node.tree === "string") found[node.tree] = (found[node.tree] || 0) + weight;
      node.parts.forEach((part, place) => spread(part, weight * slopeOfPart(node, place)));
    };
    const whole = worked(tree);
    spread(whole, 1);
    return { value: whole.value, slopes: found };
  }

  function slopeOfPart({ tree, value, parts }, place) {
    const part = parts[place].value;
    switch (tree[0]) {
      case "+": return 1;
      case "-": return -1;
      case "*": return parts.reduce((made, other, at) => (at === place ? made : made * other.value), 1);
      case "/": return place === 0 ? 1 / parts[1].value : -value / part;
      case "**": {
        const [base, exponent] = parts.map((one) => one.value);
        if (place === 0) return exponent * Math.pow(base, exponent - 1);
        return typeof parts[1].tree === "number" ? 0 : value * Math.log(base);
      }
      case "sqrt": return 1 / (2 * value);
      case "log": return 1 / part;
      case "exp": return value;
      default: return part === value ? 1 : 0; // of the largest or smallest term the one it is moves it
    }
  }

  const has = (tree, name) => tree === name || (Array.isArray(tree) && tree.some((part, place) => place > 0 && has(part, name)));
  const isNegative = (part) => (Array.isArray(part) ? part[0] === "-" || (["*", "/"].includes(part[0]) && isNegative(part[1])) : part < 0);
  /** Whether there is a difference of positive terms anywhere in a formula. */
  const hasDifference = (tree) => Array.isArray(tree) && ((tree[0] === "+" && new Set(tree.slice(1).map(isNegative)).size === 2) || tree.slice(1).some(hasDifference));
  const less = (left, right) => ["+", left, ["-", right]];

  // -- how well things hold ------------------------------------------------------------------------------------------------------

  const relative = (left, right) => { const scale = Math.max(Math.abs(left), Math.abs(right)); return scale ? Math.abs(left - right) / scale : 0; };
  const close = (left, right, share) => left === right || Math.abs(left - right) <= share * Math.max(Math.abs(left), Math.abs(right));

  /** Whether a height is no more than what it moves by if each value moves by that share of itself. */
  function negligible(height, tree, values, share) {
    return Math.abs(height) <= share * moved(tree, values);
  }

  /** By how much a formula moves if each value moves by as much as itself. */
  function moved(tree, values) {
    const moves = Object.entries(slopes(tree, values).slopes).map(([name, slope]) => Math.abs(slope * Number(number(values[name]))));
    return moves.filter(Number.isFinite).reduce((a, b) => a + b, 0);
  }

  /** By what share of itself a root may be off for rounding alone: one without a difference by none that counts. */
  function looseness(smooth, form, unknown, at) {
    if (!at[unknown] || (form && !hasDifference(form.tree))) return 0;
    const slope = slopes(smooth, at).slopes[unknown];
    return slope ? (ROUNDING * moved(smooth, at)) / Math.abs(slope) / at[unknown] : Infinity;
  }
  const number = (value) => (Array.isArray(value) ? value[0] : value);
  const rounded = (values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, number(value)]));

  /** How well two terms are equal, in thirty digits. */
  function alike(first, second, exact) {
    const [one, other] = [precise(first, exact), precise(second, exact)], height = plus(one, minus(other))[0];
    if (negligible(height, less(first, second), rounded(exact), LAST_DIGITS)) return ROUNDED;
    return Math.abs(height) <= HOLDS * Math.max(Math.abs(one[0]), Math.abs(other[0])) ? NEARLY : null;
  }

  function equal(first, second, at, exact) {
    const one = valueOf(first, at), other = valueOf(second, at);
    if (close(one, other, LAST_DIGITS)) return ROUNDED;
    if (!close(one, other, HOLDS) && !negligible(one - other, less(first, second), at, HOLDS)) return null;
    return alike(first, second, exact);
  }

  /** How well a regime is in force: by the worst of its inequalities; null if one does not hold. `loose` is by how much the unknown may be off. */
  function rankOf(wins, at, manyDigits, loose = 0) {
    let worst = EXACTLY;
    for (const pair of wins) {
      const clear = isLarger(pair, at, manyDigits, loose);
      if (clear) continue;
      const rank = clear === null ? equal(pair.larger, pair.smaller, at, manyDigits()) : null;
      if (rank === null) return null;
      worst = Math.max(worst, rank);
    }
    return worst;
  }

  /** Whether a term is the larger one of two; null where it seems not to be, for rounding at the most. */
  function isLarger({ larger, smaller }, at, manyDigits, loose) {
    const [one, other] = [valueOf(larger, at), valueOf(smaller, at)];
    if (!loose) return one >= other || null;
    const size = Math.max(Math.abs(one), Math.abs(other), moved(larger, at), moved(smaller, at));
    if (Math.abs(one - other) > Math.max(HOLDS, loose) * size) return one > other;
    return !isBelow(precise(larger, manyDigits()), precise(smaller, manyDigits())) || null;
  }

  const SIGNS = { ">=": (a, b) => a >= b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, "<": (a, b) => a < b };
  const compared = ({ sign, larger, smaller }, at) => SIGNS[sign](valueOf(larger, at), valueOf(smaller, at));
  const atItsBound = ({ sign, larger, smaller }, at) => sign.length === 2 && close(valueOf(larger, at), valueOf(smaller, at), HOLDS);
  const known = (needed, at) => needed.names.every((name) => name in at);
  const broken = (equation, at) => equation.requires.filter((one) => known(one, at) && !compared(one, at) && !atItsBound(one, at));

  // -- roots ---------------------------------------------------------------------------------------------------------------------

  /** A root that rounding alone has put past an end of its domain, put on the end. */
  function clamped(row, value) {
    if (value < row.floor && row.zero) return row.floor;
    const nearest = Math.min(Math.max(value, row.floor), row.ceiling);
    return close(value, nearest, PAST) ? nearest : value;
  }
  const inDomain = (row, value) => Number.isFinite(value) && (value !== 0 || row.zero) && value >= row.floor && value <= row.ceiling;

  /** Every root of a smooth formula in the domain of the unknown: by its closed forms, or by a search. */
  function realRoots(smooth, closed, unknown, values, row) {
    const searched = () => bracketed(smooth, unknown, values, row).map((value) => ({ value, form: null }));
    if (closed === null) return searched();
    const found = closed.map((form) => ({ value: numberOf(form, values), form }));
    // A closed form may divide by a coefficient that is nothing, or pass through what is no number of a machine.
    const beyond = ({ value, form }) => !Number.isFinite(value) && (Object.values(values).includes(0) || overflows(form.tree, values));
    if (found.some(beyond)) return searched();
    return found.map(({ value, form }) => ({ value: clamped(row, value), form })).filter(({ value }) => inDomain(row, value));
  }

  /** Whether a formula passes through what no number is large or small enough for. */
  function overflows(tree, values) {
    if (!Array.isArray(tree)) return false;
    const value = valueOf(tree, values);
    return Math.abs(value) === Infinity || (tree[0] === "**" && value === 0) || tree.slice(1).some((part) => overflows(part, values));
  }

  function numberOf(form, values) {
    const value = form.loses_digits ? NaN : valueOf(form.tree, values);
    return value && Number.isFinite(value) ? value : precise(form.tree, values)[0];
  }

  /** The root in thirty digits: by its closed form, or by Newton's method from where the unknown stands; null where none is near. */
  function exactly(smooth, form, unknown, values) {
    if (form) { const found = precise(form.tree, values); return Number.isFinite(found[0]) ? found : null; }
    let at = [values[unknown], 0];
    for (let turn = 0; turn < 60; turn++) {
      const slope = slopes(smooth, { ...values, [unknown]: at[0] }).slopes[unknown], height = precise(smooth, { ...values, [unknown]: at });
      if (!Number.isFinite(height[0]) || !Number.isFinite(slope) || !slope) return null;
      const move = over(height, [slope, 0]);
      at = plus(at, minus(move));
      if (!(at[0] > 0)) return null;
      if (Math.abs(move[0]) <= 1e-17 * at[0]) return at;
    }
    return null;
  }

  /** All roots over the domain: a logarithmic grid, the edges of where the formula is defined, extrema that may have crossed zero. */
  function bracketed(smooth, unknown, values, row) {
    const at = { ...values }, there = (place) => { at[unknown] = Math.exp(place); return at; };
    const surely = (place) => precise(smooth, there(place))[0];
    const workedOut = atGivens(smooth, unknown, values);
    const isFlat = (found) => Math.abs(found) <= LAST_DIGITS * Math.abs(valueOf(workedOut[1], at));
    // What is left of two sides that are nearly equal may have the sign of rounding.
    const height = (place) => { const found = valueOf(workedOut, there(place)); return isFlat(found) ? surely(place) : found; };
    const low = Math.log((row.low || row.high / FAR) / FAR), high = Math.log(Math.min(row.high * FAR, row.ceiling));
    const even = (from, to, count) => Array.from({ length: count }, (_, k) => from + ((to - from) * k) / count);
    const places = [...(Number.isFinite(row.ceiling) ? even(Math.log(LEAST), low, SPARSE) : []), ...even(low, high, GRID), high];
    const grid = places.flatMap((place, k) => {
      const found = valueOf(workedOut, there(place));
      if (isFlat(found)) return k % SPARSE_FLAT ? [] : [[place, surely(place)]];
      return [[place, Number.isFinite(found) ? found : NaN]];
    });
    const points = [...grid];
    for (let k = 0; k + 1 < grid.length; k++) {
      const [left, right] = [grid[k], grid[k + 1]];
      if (Number.isNaN(left[1]) === Number.isNaN(right[1])) continue;
      const ends = Number.isNaN(left[1]) ? [right[0], left[0]] : [left[0], right[0]];
      let edge = lastInside(...ends, height);
      if (Number.isNaN(surely(edge))) edge = lastInside(...ends, surely);
      points.push([edge, surely(edge)]);
    }
    for (let k = 0; k + 2 < grid.length; k++) {
      const [before, first] = grid[k], middle = grid[k + 1][1], [after, last] = grid[k + 2], sign = middle > 0 ? 1 : -1;
      if (!mayReachZero(sign * first, sign * middle, sign * last)) continue;
      const nearest = lowest((place) => sign * height(place), before, after);
      if (sign * height(nearest) < 0) points.push([nearest, height(nearest)]);
    }
    points.sort((a, b) => a[0] - b[0]);
    const found = points.filter(([, here]) => here === 0).map(([place]) => Math.exp(place));
    for (let k = 0; k + 1 < points.length; k++) if (points[k][1] * points[k + 1][1] < 0) found.push(halved(height, points[k], points[k + 1]));
    const roots = found.map((one) => settledOn(smooth, unknown, values, one, row)).filter((one) => one !== null);
    return [...new Set(roots)].sort((a, b) => a - b);
  }

  /** A formula with each part that does not hold the unknown worked out, as it comes to the same at every point. */
  function atGivens(tree, unknown, values) {
    if (Array.isArray(tree) && has(tree, unknown)) return [tree[0], ...tree.slice(1).map((part) => atGivens(part, unknown, values))];
    const number = tree === unknown ? NaN : valueOf(tree, values);
    return Number.isNaN(number) ? tree : number;
  }

  /** Whether a curve that is this high at three places turns back in the middle and may have been at zero; bent ones are given some more. */
  const mayReachZero = (before, middle, after) => 0 < middle && middle <= after && middle < before && middle <= 4 * (Math.max(before, after) - middle);

  function lastInside(inside, outside, height) {
    for (let turn = 0; turn < 60; turn++) { const middle = (inside + outside) / 2; if (Number.isNaN(height(middle))) outside = middle; else inside = middle; }
    return inside;
  }
  function lowest(height, low, high) {
    for (let turn = 0; turn < 80; turn++) {
      const left = low + (high - low) / 3, right = high - (high - low) / 3;
      if (height(left) <= height(right)) high = right; else low = left;
    }
    return (low + high) / 2;
  }
  function halved(height, [left, atLeft], [right]) {
    for (let turn = 0; turn < 100 && left < right; turn++) {
      const middle = (left + right) / 2, at = height(middle);
      if (middle <= left || middle >= right) break;
      if (atLeft * at <= 0) right = middle; else left = middle;
    }
    return Math.exp((left + right) / 2);
  }

  /** The root near which a search ended; null where rounding led it, or a pole. */
  function settledOn(smooth, unknown, values, root, row) {
    const at = { ...values, [unknown]: root }, exact = exactly(smooth, null, unknown, at);
    if (exact) return clamped(row, exact[0]);
    const scale = Math.max(...smooth.slice(1).map((term) => Math.abs(precise(term, at)[0])));
    return Math.abs(precise(smooth, at)[0]) <= LAST_DIGITS * scale ? root : null;
  }

  // -- one equation --------------------------------------------------------------------------------------------------------------

  /** All answers of an equation for one of its quantities, every other one given; or the reason of none. */
  function solve(equation, unknown, given, quantities) {
    const values = Object.fromEntries(equation.symbols.filter((name) => name !== unknown).map((name) => [name, given[name]]));
    const row = rowOf(quantities[unknown]), unmet = broken(equation, values);
    if (unmet.length) return { answers: [], unmet };
    const found = equation.sense === "=" ? equation.regimes.flatMap((regime, place) => ofRegime(equation, regime, place, unknown, values, row)) : [];
    const all = equation.sense === "=" ? merged(found, equation, unknown, values) : inequality(equation, unknown, values, row);
    const answers = all.map((answer) => onItsBound(equation, unknown, values, answer));
    const beside = answers.map((answer) => broken(equation, { ...values, [unknown]: inside(answer) }));
    const kept = answers.filter((_, place) => !beside[place].length);
    return { answers: kept, unmet: kept.length ? [] : [...new Set(beside.flat())] };
  }

  /** A quantity with what it has as others of its family have it, and what is left out of most of them. */
  const rowOf = (row) => {
    const family = "of" in row ? root.backsolve.families[row.of] : {};
    const floor = (family.signed ?? row.signed) ? -Infinity : 0;
    return { floor, ceiling: Infinity, least: row.low / family.absurd, most: row.high * family.absurd, ...family, ...row };
  };

  const inside = (answer) => (answer.kind === "point" ? answer.value : middleOf(answer.low, answer.high));
  const middleOf = (low, high) => (Number.isFinite(high) ? (low + high) / 2 : low ? 2 * low : 1);

  /** A point that rounding alone has put beyond a requirement, put on the bound of it. */
  function onItsBound(equation, unknown, values, answer) {
    for (const needed of answer.kind === "point" ? equation.requires : []) {
      const at = { ...values, [unknown]: answer.value };
      if (!needed.names.includes(unknown) || compared(needed, at) || !atItsBound(needed, at)) continue;
      const bounds = (needed.turns[unknown] || []).flatMap((turn) => turn.roots || []).map((form) => valueOf(form.tree, values));
      const agrees = (bound) => alike(equation.symbols[0], equation.right, { ...values, [unknown]: bound }) === ROUNDED;
      answer = { ...answer, value: bounds.find((bound) => close(bound, answer.value, HOLDS) && agrees(bound)) ?? answer.value };
    }
    return answer;
  }

  /** Points of a regime the unknown is in; an interval of one it is not in, or in which its coefficient is zero. */
  function ofRegime(equation, regime, place, unknown, values, row) {
    const left = equation.symbols[0], smooth = less(left, regime.value);
    if (left !== unknown && !has(regime.value, unknown)) return intervals(equation, regime, smooth, true, unknown, values, row);
    const roots = realRoots(smooth, equation.roots[unknown][place], unknown, values, row);
    const points = roots.flatMap((root) => point(equation, regime, smooth, root, unknown, values, row));
    const none = !roots.length && !(left === unknown && !has(equation.right, unknown)) && dropsOut(regime, smooth, unknown, values, row);
    return none ? intervals(equation, regime, smooth, false, unknown, values, row) : points;
  }

  /** The root as an answer if the whole equation holds there, in this regime. */
  function point(equation, regime, smooth, { value, form }, unknown, values, row) {
    const found = { ...values, [unknown]: value }, loose = looseness(smooth, form, unknown, found);
    const manyDigits = once(() => inManyDigits(smooth, form, unknown, found, row));
    let at = found, rank = rankOf(regime.wins, at, manyDigits, loose);
    if (rank === null) return [];
    const left = at[equation.symbols[0]], right = valueOf(equation.right, at);
    if (!(relative(left, right) <= LAST_DIGITS)) {
      if (!regime.loses_digits && !negligible(left - right, less(equation.symbols[0], equation.right), at, HOLDS)) return [];
      const exact = manyDigits();
      at = { ...values, [unknown]: exact[unknown][0] };
      const ranks = [rankOf(regime.wins, at, manyDigits, loose), alike(equation.symbols[0], regime.value, exact)];
      if (ranks.includes(null)) return [];
      rank = Math.max(...ranks);
      if (rank === NEARLY && offAt(equation, at) > LAST_DIGITS && holdsBeside(equation, unknown, at)) return [];
    }
    return [{ kind: "point", value: at[unknown], regime, form, rank, ...erring(equation, unknown, elasticities(smooth, unknown, at)) }];
  }

  /** |left - right| over the larger of the two, in thirty digits. */
  const offAt = (equation, at) => relative(...[equation.symbols[0], equation.right].map((side) => precise(side, at)[0]));

  /** Whether the sides are equal to a billionth a thousandth beside a root that is one to a billionth: it may be anywhere then. */
  function holdsBeside(equation, unknown, at) {
    const beside = [-LOOSE, LOOSE].map((step) => ({ ...at, [unknown]: at[unknown] * (1 + step) }));
    return beside.some((moved) => relative(moved[equation.symbols[0]], valueOf(equation.right, moved)) <= HOLDS);
  }

  /** How a root moves, and which way it errs where the left side is "lower" or "upper" than the truth: as it moves with the left side. */
  function erring({ symbols: [left], bound }, unknown, moves) {
    const turned = { lower: "upper", upper: "lower" }[bound];
    return { elasticities: moves, bound: unknown === left ? bound : moves[left] > 0 ? turned : moves[left] < 0 ? bound : "" };
  }

  /** The values, with the root in thirty digits; with the unknown as it was where no root is near, or none in the domain. */
  function inManyDigits(smooth, form, unknown, at, row) {
    const root = exactly(smooth, form, unknown, at), put = root && inDomain(row, clamped(row, root[0])) ? root : [at[unknown], 0];
    return { ...at, [unknown]: clamped(row, put[0]) === put[0] ? put : [clamped(row, put[0]), 0] };
  }

  function once(make) {
    let made;
    return () => (made = made || make());
  }

  /** d ln(unknown)/d ln(given) for each given where the difference is nothing. */
  function elasticities(smooth, unknown, at) {
    const found = slopes(smooth, at).slopes, scale = at[unknown] * found[unknown];
    const others = Object.keys(found).filter((name) => name !== unknown).sort();
    return scale ? Object.fromEntries(others.map((name) => [name, 0 - (at[name] * found[name]) / scale])) : {};
  }

  /** Whether the unknown has no effect at these numbers: its coefficient is zero, or all that is left is rounding anywhere. */
  function dropsOut(regime, smooth, unknown, values, row) {
    const places = row.low ? [{ ...values, [unknown]: row.low }, ...placesOf(unknown, values, row)] : [];
    const height = (at) => (regime.loses_digits ? precise(smooth, at)[0] : valueOf(smooth, at));
    const rounding = places.length && places.every((at) => negligible(height(at), smooth, at, LAST_DIGITS));
    return rounding || movesNothing(regime, smooth, unknown, values, row);
  }
  const placesOf = (unknown, values, row) => [0.125, 0.5, 1].map((share) => ({ ...values, [unknown]: row.low + share * (row.high - row.low) }));

  function movesNothing(regime, smooth, unknown, values, row) {
    // A power may be too small for a number and is no zero, unless something that was given is.
    if (regime.loses_digits && !Object.values(values).includes(0)) return false;
    const places = placesOf(unknown, values, row), heights = new Set(places.map((at) => valueOf(smooth, at)));
    return heights.size === 1 && Number.isFinite([...heights][0]) && places.every((at) => slopes(smooth, at).slopes[unknown] === 0);
  }

  /** The equation holds without the unknown: all values that keep the regime in force and meet the requirements. */
  function intervals(equation, regime, smooth, absent, unknown, values, row) {
    const probe = { ...values, [unknown]: row.high }, rank = equal(equation.symbols[0], regime.value, probe, probe);
    if (rank === null) return [];
    const cuts = regime.wins.flatMap((pair) => cutsOf(pair, unknown, values, row));
    let [low, high] = [0, Infinity];
    if (!absent && !movesNothing(regime, smooth, unknown, values, row)) {
      [low, high] = [row.low, row.high]; // an effect below the last digits was only looked for where the unknown is found in practice
      cuts.push({ value: low, smooth }, { value: high, smooth });
    }
    const inForce = (worst) => (value) => {
      const at = { ...values, [unknown]: value }, here = low <= value && value <= high ? rankOf(regime.wins, at, () => at) : null;
      return here !== null && here <= worst;
    };
    const found = stretches(equation, unknown, values, row, cuts, inForce(EXACTLY));
    const all = found.length ? found : stretches(equation, unknown, values, row, cuts, inForce(ROUNDED));
    // What holds inside for other last digits alone gives way to a root of these very numbers.
    const rankAt = (one) => (offAt(equation, { ...values, [unknown]: inside(one) }) <= HOLDS ? rank : NEARLY);
    return all.map((one) => ({ ...one, regime, rank: rankAt(one) }));
  }

  /** The stretches of the unknown on which an inequality holds. */
  function inequality(equation, unknown, values, row) {
    const left = equation.symbols[0];
    const cuts = equation.regimes.flatMap((regime, place) => {
      const smooth = less(left, regime.value);
      const roots = has(smooth, unknown) ? realRoots(smooth, equation.roots[unknown][place], unknown, values, row) : [];
      return roots.map(({ value }) => ({ value, smooth }));
    });
    const holds = (value) => { const at = { ...values, [unknown]: value }; return SIGNS[equation.sense](at[left], valueOf(equation.right, at)); };
    return stretches(equation, unknown, values, row, cuts, holds);
  }

  /** Where the larger of a pair may turn into the smaller. */
  function cutsOf(pair, unknown, values, row) {
    const turns = pair.turns[unknown] || [];
    return turns.flatMap(({ zero, roots }) => realRoots(zero, roots, unknown, values, row).map(({ value }) => ({ value, smooth: zero })));
  }

  /** Numbers from one end of an interval to the other: what rounding alone makes hold at one does not hold at all. */
  function along(low, high, row) {
    if (Number.isFinite(high)) return [low ? 0.001 : 1e-12, 0.5, 0.999].map((share) => low + share * (high - low));
    return [Math.max(2 * low, row.low || 0.001 * row.high), Math.max(2 * low, row.high)];
  }

  /** The domain cut wherever something changes, and of it the stretches on which all holds, neighbours joined. */
  function stretches(equation, unknown, values, row, cuts, holds) {
    const all = new Map([...cuts, ...equation.requires.flatMap((pair) => cutsOf(pair, unknown, values, row))].map((cut) => [cut.value, cut]));
    const between = [...all.keys()].filter((value) => row.floor < value && value < row.ceiling).sort((a, b) => a - b);
    const ends = [row.floor, ...between, row.ceiling], joined = [];
    for (let k = 0; k + 1 < ends.length; k++) {
      const middle = middleOf(ends[k], ends[k + 1]);
      if (!along(ends[k], ends[k + 1], row).every(holds) || broken(equation, { ...values, [unknown]: middle }).length) continue;
      const last = joined[joined.length - 1];
      if (last && last.high === ends[k]) last.high = ends[k + 1];
      else joined.push({ kind: "interval", low: ends[k], high: ends[k + 1], elasticities: {} });
    }
    for (const one of joined) {
      const end = all.get(one.high) || all.get(one.low), value = all.has(one.high) ? one.high : one.low;
      if (end) one.elasticities = elasticities(end.smooth, unknown, { ...values, [unknown]: value });
    }
    return joined;
  }

  /** What several regimes say alike, said once; what holds only nearly is left out beside what holds. */
  function merged(all, equation, unknown, values) {
    if (all.length < 2) return all;
    const firm = all.filter((one) => one.rank !== NEARLY), found = firm.length ? firm : all, wholes = [], groups = [];
    for (const one of found.filter((one) => one.kind === "interval").sort((a, b) => a.low - b.low)) {
      const last = wholes[wholes.length - 1];
      if (!last || one.low > last.high * (1 + HOLDS)) wholes.push({ ...one });
      else if (one.high > last.high) Object.assign(last, { ...one, low: last.low });
    }
    const alone = equation.symbols[0] === unknown && !has(equation.right, unknown);
    for (const one of found.filter((one) => one.kind === "point").sort((a, b) => a.value - b.value)) {
      if (wholes.some(({ low, high }) => low * (1 - HOLDS) <= one.value && one.value <= high * (1 + HOLDS))) continue;
      const last = groups[groups.length - 1];
      if (last && (alone || close(last[last.length - 1].value, one.value, HOLDS))) last.push(one);
      else groups.push([one]);
    }
    return [...groups.flatMap((group) => apart(group, equation, unknown, values)), ...wholes];
  }

  /** Of points too close to be told apart those that are roots in thirty digits, each once; the best of them if none is. */
  function apart(group, equation, unknown, values) {
    if (group.length === 1) return group;
    const kept = new Map();
    for (const one of group.sort((a, b) => a.rank - b.rank)) {
      const at = { ...values, [unknown]: one.value };
      const exact = { ...at, [unknown]: exactly(less(equation.symbols[0], one.regime.value), one.form, unknown, at) || [one.value, 0] };
      const holds = one.regime.wins.every(({ larger, smaller }) => !isBelow(precise(larger, exact), precise(smaller, exact)));
      if (holds && !kept.has(exact[unknown][0])) kept.set(exact[unknown][0], one);
    }
    return kept.size ? [...kept.keys()].sort((a, b) => a - b).map((value) => kept.get(value)) : [group[0]];
  }

  const namesIn = (tree) => (Array.isArray(tree) ? tree.slice(1).flatMap(namesIn) : typeof tree === "string" ? [tree] : []);

  /** Equations one after another, each worked out once all that it rests on is there; what is given is not worked out again. */
  function chain(legs, given) {
    const values = { ...given };
    for (const leg of legs) {
      leg.needs ??= namesIn(leg.right);
      if (!(leg.makes in values) && leg.needs.every((name) => name in values)) values[leg.makes] = valueOf(leg.right, values);
    }
    return values;
  }

  const engine = { valueOf, slopes, solve, chain, namesIn, broken, inDomain, has, rowOf };
  if (typeof module !== "undefined") module.exports = engine;
  else (root.backsolve = root.backsolve || {}).engine = engine;
})(globalThis);
