// Any quantity of an equation out of all the others: by the closed forms in the page, else by bisection; as derive/solving/one_equation.py.
"use strict";

(function () {
  const HOLDS = 1e-9; // relative difference up to which two sides count as equal
  const LAST_DIGITS = 1e-13; // relative difference that rounding alone may make
  const FAR = 1e6, GRID = 600, NEAR = 8; // of a search: how far beyond practice, its steps, and within how much of a step's change a curve may touch 0

  const OPERATIONS = {
    "+": (a, b) => a + b,
    "*": (a, b) => a * b,
    "/": (a, b) => (b === 0 ? NaN : a / b),
    "**": (a, b) => (a === 0 && b < 0 ? NaN : a ** b),
    "-": (a) => -a,
    sqrt: Math.sqrt,
    log: (a) => (a > 0 ? Math.log(a) : NaN),
    exp: Math.exp,
    Max: Math.max,
    Min: Math.min,
  };

  /** What a tree comes to at values by quantity name; NaN off its domain. */
  function valueOf(tree, values) {
    if (typeof tree === "string") return values[tree];
    if (!Array.isArray(tree)) return tree;
    const [operation, first, ...others] = tree;
    if (!others.length) return OPERATIONS[operation](valueOf(first, values));
    return others.reduce((made, part) => OPERATIONS[operation](made, valueOf(part, values)), valueOf(first, values));
  }

  /** What a tree comes to, and its slope by one quantity. */
  function withSlope(tree, values, name) {
    if (!Array.isArray(tree)) return [valueOf(tree, values), tree === name ? 1 : 0];
    const [operation, ...parts] = tree, inner = parts.map((part) => withSlope(part, values, name));
    const value = valueOf([operation, ...inner.map(([one]) => one)], values), [[a, slope], [b, other] = []] = inner;
    switch (operation) {
      case "+": return [value, inner.reduce((sum, [, one]) => sum + one, 0)];
      case "*": {
        const without = (place) => inner.reduce((made, [one], at) => (at === place ? made : made * one), 1);
        return [value, inner.reduce((sum, [, one], place) => sum + (one ? one * without(place) : 0), 0)];
      }
      case "-": return [value, -slope];
      case "/": return [value, (slope - value * other) / b];
      case "**": return [value, (slope ? slope * b * a ** (b - 1) : 0) + (other ? other * value * Math.log(a) : 0)];
      case "sqrt": return [value, slope / (2 * value)];
      case "log": return [value, slope / a];
      case "exp": return [value, slope * value];
    }
    return inner.find(([one]) => one === value) || [value, 0]; // of the largest or smallest term the one it is moves it
  }
  const slopeOf = (tree, values, name) => withSlope(tree, values, name)[1];

  const namesIn = (tree) => (Array.isArray(tree) ? tree.slice(1).flatMap(namesIn) : typeof tree === "string" ? [tree] : []);
  const has = (tree, name) => namesIn(tree).includes(name);
  const less = (left, right) => ["+", left, ["-", right]];

  const close = (left, right, share) => left === right || Math.abs(left - right) <= share * Math.max(Math.abs(left), Math.abs(right));

  /** By how much a formula moves if each value moves by as much as itself. */
  function moved(tree, values) {
    const moves = [...new Set(namesIn(tree))].map((name) => Math.abs(slopeOf(tree, values, name) * values[name]));
    return moves.filter(Number.isFinite).reduce((a, b) => a + b, 0);
  }

  /** Whether a formula is nothing but what its values leave in the digits that are lost. */
  const vanishes = (tree, values, share) => Math.abs(valueOf(tree, values)) <= share * moved(tree, values);

  /** Whether two terms are equal to a share of themselves, or of what they are made of. */
  const alike = (one, other, at, share) => close(valueOf(one, at), valueOf(other, at), share) || vanishes(less(one, other), at, share);

  /** Whether all pairs of a regime have their larger term on its side. */
  const wins = (regime, at, share) => regime.wins.every(({ larger, smaller }) => valueOf(larger, at) >= valueOf(smaller, at) || alike(larger, smaller, at, share));

  const SIGNS = { ">=": (a, b) => a >= b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, "<": (a, b) => a < b };

  /** The requirements that values do not meet; at the bound of one it is met. */
  function broken(equation, at) {
    return equation.requires.filter(({ sign, larger, smaller, names }) => {
      if (!names.every((name) => name in at)) return false;
      const [one, other] = [valueOf(larger, at), valueOf(smaller, at)];
      return !SIGNS[sign](one, other) && !(sign.length === 2 && close(one, other, HOLDS));
    });
  }

  const inDomain = (row, value) => Number.isFinite(value) && (value !== 0 || row.zero) && value >= row.floor && value <= row.ceiling;

  /** A root that rounding alone has put past an end of its domain, put on the end. */
  function clamped(row, value) {
    if (value < row.floor && row.zero && value > -HOLDS * row.high) return row.floor;
    const nearest = Math.min(Math.max(value, row.floor), row.ceiling);
    return close(value, nearest, HOLDS) ? nearest : value;
  }

  /** Every root of a smooth formula in the domain of the unknown: by its closed forms, or by a search. */
  function rootsOf(smooth, forms, unknown, values, row) {
    const searched = () => search(smooth, unknown, values, row).map((value) => ({ value, form: null }));
    if (forms === null) return searched();
    const found = forms.map((form) => ({ value: polished(smooth, form, unknown, values), form }));
    // A closed form may divide by a coefficient that is nothing.
    if (found.some(({ value }) => !Number.isFinite(value)) && Object.values(values).includes(0)) return searched();
    return found.map(({ value, form }) => ({ value: clamped(row, value), form })).filter(({ value }) => inDomain(row, value));
  }

  /** The value of a closed form; one that loses digits gets them back by Newton's method. */
  function polished(smooth, form, unknown, values) {
    let value = valueOf(form.tree, values);
    for (let turn = 0; form.loses_digits && turn < 8; turn++) {
      const [height, slope] = withSlope(smooth, { ...values, [unknown]: value }, unknown), next = value - height / slope;
      if (!Number.isFinite(next) || next === value) break;
      value = next;
    }
    return value;
  }

  /** All roots over the domain: where the sign changes on a logarithmic grid, at an edge of where it is defined, or beside an extremum. */
  function search(smooth, unknown, values, row) {
    const height = (place) => valueOf(smooth, { ...values, [unknown]: Math.exp(place) });
    const low = Math.log((row.low || row.high / FAR) / FAR), high = Math.log(Math.min(row.high * FAR, row.ceiling));
    const slope = (place) => Math.exp(place) * slopeOf(smooth, { ...values, [unknown]: Math.exp(place) }, unknown);
    const points = Array.from({ length: GRID + 1 }, (_, k) => low + ((high - low) * k) / GRID).map((place) => [place, height(place)]);
    const more = [], isLeast = (k) => [k - 1, k + 1].every((at) => !points[at] || !(Math.abs(points[at][1]) < Math.abs(points[k][1])));
    for (let k = 1; k <= GRID; k++) {
      const [[left, a], [right, b]] = [points[k - 1], points[k]], touches = a * b > 0 && (isLeast(k - 1) || isLeast(k));
      const near = touches && Math.abs(a) <= NEAR * Math.abs(slope(left)) * (right - left); // else its extremum is on the same side of zero
      if (near && slope(left) * slope(right) < 0) more.push(turning((place) => slope(place) * slope(left) > 0, left, right, true));
      if (Number.isNaN(a) !== Number.isNaN(b)) more.push(turning((place) => Number.isNaN(height(place)) === Number.isNaN(a), left, right, Number.isNaN(a)));
    }
    const all = [...points, ...more.map((place) => [place, height(place)])].sort((one, other) => one[0] - other[0]);
    const found = all.filter(([, here]) => here === 0).map(([place]) => place);
    for (let k = 1; k < all.length; k++) {
      const [[left, a], [right, b]] = [all[k - 1], all[k]];
      if (a * b < 0) found.push(turning((place) => a * height(place) > 0, left, right, true));
    }
    // Beside an end, a sign may change by rounding alone.
    const roots = found.map((place) => Math.exp(place)).map((value) => (value >= row.ceiling * (1 - HOLDS) ? row.ceiling : clamped(row, value)));
    return [...new Set(roots)].filter((value) => vanishes(smooth, { ...values, [unknown]: value }, HOLDS)).sort((a, b) => a - b);
  }

  /** The place up to which something is so, by bisection: the last before it turns, or the first behind. */
  function turning(isSo, low, high, behind) {
    for (let turn = 0; turn < 80; turn++) {
      const middle = (low + high) / 2;
      if (isSo(middle)) low = middle;
      else high = middle;
    }
    return behind ? high : low;
  }

  /** A quantity with its limits, which JSON leaves out where there is none. */
  const rowOf = (row) => ({ floor: row.signed ? -Infinity : 0, ceiling: Infinity, ...row });

  /** All answers of an equation for one of its quantities, every other one given; or the requirements that leave none. */
  function solve(equation, unknown, given, quantities) {
    const values = Object.fromEntries(equation.symbols.filter((name) => name !== unknown).map((name) => [name, given[name]]));
    const row = rowOf(quantities[unknown]), unmet = broken(equation, values);
    if (unmet.length) return { answers: [], unmet };
    const regimes = () => equation.regimes.flatMap((regime, place) => ofRegime(equation, regime, place, unknown, values, row));
    const all = equation.sense === "=" ? merged(regimes()) : inequality(equation, unknown, values, row);
    const missed = all.map((answer) => broken(equation, { ...values, [unknown]: inside(answer) }));
    const answers = all.filter((_, place) => !missed[place].length);
    return { answers, unmet: answers.length ? [] : [...new Set(missed.flat())] };
  }

  const middleOf = (low, high) => (Number.isFinite(high) ? (low + high) / 2 : low ? 2 * low : 1);
  const inside = (answer) => (answer.kind === "point" ? answer.value : middleOf(answer.low, answer.high));

  /** Points of a regime that the unknown is in; an interval of one that it is not in, or has no effect in. */
  function ofRegime(equation, regime, place, unknown, values, row) {
    const left = equation.symbols[0], smooth = less(left, regime.value);
    if (!has(smooth, unknown)) return intervals(equation, regime, smooth, unknown, values, row);
    const roots = rootsOf(smooth, equation.roots[unknown][place], unknown, values, row);
    const noEffect = !roots.length && unknown !== left && dropsOut(smooth, unknown, values, row);
    if (noEffect) return intervals(equation, regime, smooth, unknown, values, row);
    return roots.flatMap(({ value, form }) => {
      const at = { ...values, [unknown]: value }, holds = (share) => wins(regime, at, share) && alike(left, equation.right, at, share);
      return holds(HOLDS) ? [{ kind: "point", value, regime, form, firm: holds(LAST_DIGITS), ...erring(equation, unknown, elasticities(smooth, unknown, at)) }] : [];
    });
  }

  /** How a root moves, and which way it errs if the left side is a bound. */
  function erring({ symbols: [left], bound }, unknown, moves) {
    const turned = { lower: "upper", upper: "lower" }[bound];
    return { elasticities: moves, bound: unknown === left ? bound : moves[left] > 0 ? turned : moves[left] < 0 ? bound : "" };
  }

  /** d ln(unknown)/d ln(given) for each given, where the difference is nothing. */
  function elasticities(smooth, unknown, at) {
    const scale = at[unknown] * slopeOf(smooth, at, unknown), others = [...new Set(namesIn(smooth))].filter((name) => name !== unknown).sort();
    return scale ? Object.fromEntries(others.map((name) => [name, 0 - (at[name] * slopeOf(smooth, at, name)) / scale])) : {};
  }

  /** Whether the unknown has no effect at these numbers: its coefficient is zero. */
  function dropsOut(smooth, unknown, values, row) {
    const places = [0.125, 0.5, 1].map((share) => ({ ...values, [unknown]: row.low + share * (row.high - row.low) }));
    if (places.every((at) => vanishes(smooth, at, LAST_DIGITS))) return true;
    return places.every((at) => slopeOf(smooth, at, unknown) === 0) && new Set(places.map((at) => valueOf(smooth, at))).size === 1;
  }

  /** The equation holds without the unknown: all values that keep the regime in force and meet the requirements. */
  function intervals(equation, regime, smooth, unknown, values, row) {
    if (!alike(equation.symbols[0], regime.value, { ...values, [unknown]: row.high }, HOLDS)) return [];
    const cuts = regime.wins.flatMap((pair) => cutsOf(pair, unknown, values, row));
    const found = stretches(equation, unknown, values, row, cuts, (value) => wins(regime, { ...values, [unknown]: value }, LAST_DIGITS));
    return found.map((one) => ({ ...one, regime, firm: true }));
  }

  /** The stretches of the unknown on which an inequality holds. */
  function inequality(equation, unknown, values, row) {
    const left = equation.symbols[0];
    const cuts = equation.regimes.flatMap((regime, place) => {
      const smooth = less(left, regime.value), roots = has(smooth, unknown) ? rootsOf(smooth, equation.roots[unknown][place], unknown, values, row) : [];
      return roots.map(({ value }) => ({ value, smooth }));
    });
    const holds = (value) => { const at = { ...values, [unknown]: value }; return SIGNS[equation.sense](at[left], valueOf(equation.right, at)); };
    return stretches(equation, unknown, values, row, cuts, holds);
  }

  /** Where the larger of a pair may turn into the smaller. */
  function cutsOf(pair, unknown, values, row) {
    const turns = pair.turns[unknown] || [];
    return turns.flatMap(({ zero, roots }) => rootsOf(zero, roots, unknown, values, row).map(({ value }) => ({ value, smooth: zero })));
  }

  /** Numbers from one end of an interval to the other: what holds at one by rounding alone does not hold at all. */
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
      const met = !broken(equation, { ...values, [unknown]: middleOf(ends[k], ends[k + 1]) }).length;
      if (!met || !along(ends[k], ends[k + 1], row).every(holds)) continue;
      const last = joined[joined.length - 1];
      if (last && last.high === ends[k]) last.high = ends[k + 1];
      else joined.push({ kind: "interval", low: ends[k], high: ends[k + 1] });
    }
    return joined.map((one) => {
      const value = all.has(one.high) ? one.high : one.low, end = all.get(value);
      return { ...one, elasticities: end ? elasticities(end.smooth, unknown, { ...values, [unknown]: value }) : {} };
    });
  }

  /** What several regimes say alike, said once; what holds only nearly is left out beside what holds. */
  function merged(all) {
    const firm = all.filter((one) => one.firm), found = firm.length ? firm : all, kept = [];
    for (const one of found.filter(({ kind }) => kind === "interval").sort((a, b) => a.low - b.low)) {
      const last = kept[kept.length - 1];
      if (!last || one.low > last.high * (1 + HOLDS)) kept.push({ ...one });
      else if (one.high > last.high) Object.assign(last, one, { low: last.low });
    }
    const points = found.filter(({ kind }) => kind === "point").sort((a, b) => a.value - b.value);
    const within = ({ value }) => kept.some(({ low, high }) => low * (1 - HOLDS) <= value && value <= high * (1 + HOLDS));
    const apart = points.filter((one, at) => !within(one) && !(at && close(points[at - 1].value, one.value, HOLDS)));
    return [...apart, ...kept];
  }

  /** Equations one after another, each worked out once all that it rests on is there; what is given is not worked out again. */
  function chain(legs, given) {
    const values = { ...given };
    for (const leg of legs) {
      leg.needs ??= namesIn(leg.right);
      if (!(leg.makes in values) && leg.needs.every((name) => name in values)) values[leg.makes] = valueOf(leg.right, values);
    }
    return values;
  }

  backsolve.engine = { broken, chain, has, inDomain, namesIn, rowOf, solve, valueOf };
})();
