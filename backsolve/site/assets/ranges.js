// What an answer spans while givens take any value of their ranges: exact ends where it only rises or falls, as derive/solving/intervals.py
// has it. Points are looked at a few at a time, as a page has other things to do; what is told is of those that were looked at so far.
"use strict";

(function (root) {
  const FLAT = 1e-6; // elasticity below which a given does nothing
  const HOLDS = 1e-9; // relative difference up to which two numbers count as equal
  const SAMPLES = 2048, CORNERS = 6, CLOSER = 16, NEAR = 128, SEED = 20261121;

  const middleOf = (ranges) => Object.fromEntries(Object.entries(ranges).map(([name, [low, high]]) => [name, (low + high) / 2]));

  /** The middle and all corners of the box; of one with many, the corners of lows and of highs, and the ends of each range alone. */
  function middleAndEnds(ranges) {
    const names = Object.keys(ranges), middle = middleOf(ranges), end = (side) => Object.fromEntries(names.map((name) => [name, ranges[name][side]]));
    if (names.length > CORNERS) return [middle, end(0), end(1), ...names.flatMap((name) => ranges[name].map((value) => ({ ...middle, [name]: value })))];
    const corners = names.reduce((found, name) => found.flatMap((one) => ranges[name].map((value) => ({ ...one, [name]: value }))), [{}]);
    return [middle, ...corners];
  }

  /** Numbers between 0 and 1 that are the same every time: mulberry32. */
  function randomFrom(seed) {
    let state = seed;
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  const stretchOf = (one) => (one.kind === "point" ? [one.value, one.value] : [one.low, one.high]);

  /** Which way an answer errs: all that does not bind up to a value is at most so much, from one on at least. */
  const erring = (one) => (one.kind === "point" ? one.bound : one.low && !Number.isFinite(one.high) ? "lower" : !one.low && Number.isFinite(one.high) ? "upper" : "");

  /** The stretches that are in one of the stretches of every point. */
  function common(held) {
    const [first, ...others] = held;
    return others.reduce((left, stretches) => left.flatMap(([a, b]) => stretches.map(([c, d]) => [Math.max(a, c), Math.min(b, d)]))
      .filter(([low, high]) => low <= high * (1 + HOLDS)), first);
  }

  /**
   * A look at a question over ranges. `solveAt` has all answers at a point of them. `more(until)` looks on as long as `until` says, and says
   * whether there is more to see; `told()` is what was seen so far.
   */
  function over(solveAt, ranges) {
    const points = middleAndEnds(ranges), ends = points.length, looks = points.map((at) => ({ at, answers: solveAt(at) }));
    const random = randomFrom(SEED), drawn = (name, low, high) => low + random() * (high - low);
    let settled = null;

    function* further() {
      while (looks.length < ends + SAMPLES) {
        const at = Object.fromEntries(Object.entries(ranges).map(([name, [low, high]]) => [name, drawn(name, low, high)]));
        yield looks.push({ at, answers: solveAt(at) });
      }
      settled = atCorners();
      if (!settled && arePoints()) for (const side of [-1, 1]) yield* closer(side);
    }
    const pending = further();
    const more = (until) => {
      while (until()) if (pending.next().done) return false;
      return true;
    };

    const answering = () => looks.filter(({ answers }) => answers.length);
    const arePoints = () => answering().length > 0 && answering().every(({ answers }) => answers.every(({ kind }) => kind === "point"));

    /** The answers at the two corners that the signs of the elasticities point to; null where one of them has no one sign. */
    function atCorners() {
      if (!looks.every(({ answers }) => answers.length === 1 && answers[0].kind === "point")) return null;
      const signs = Object.keys(ranges).map((name) => {
        const slopes = looks.map(({ answers }) => answers[0].elasticities[name] || 0);
        return [slopes.some((one) => one > FLAT), slopes.some((one) => one < -FLAT)];
      });
      if (signs.some(([rises, falls]) => rises && falls)) return null;
      const [low, high] = [0, 1].map((up) => solveAt(Object.fromEntries(Object.keys(ranges).map((name, place) => [name, ranges[name][signs[place][0] ? up : 1 - up]]))));
      if (low.length !== 1 || high.length !== 1 || low[0].kind !== "point" || high[0].kind !== "point") return null;
      const seen = seenSpan();
      return low[0].value <= seen[0] * (1 + HOLDS) && high[0].value >= seen[1] * (1 - HOLDS) ? [low[0].value, high[0].value] : null;
    }
    function seenSpan() {
      const held = answering().flatMap(({ answers }) => answers.map(stretchOf));
      return [Math.min(...held.map(([low]) => low)), Math.max(...held.map(([, high]) => high))];
    }

    /** What is beyond the least or the greatest answer that was seen, in ever smaller boxes around where it was. */
    function* closer(side) {
      const valueOf = (look) => Math.max(...look.answers.map(({ value }) => side * value));
      let best = answering().reduce((one, other) => (valueOf(other) > valueOf(one) ? other : one));
      for (let halving = 1; halving <= CLOSER; halving++) {
        const centre = best.at;
        for (let k = 0; k < NEAR; k++) {
          const at = Object.fromEntries(Object.entries(ranges).map(([name, [low, high]]) => {
            const reach = (high - low) / 2 ** halving;
            return [name, Math.min(Math.max(drawn(name, centre[name] - reach, centre[name] + reach), low), high)];
          }));
          const look = { at, near: true, answers: solveAt(at) };
          if (look.answers.length && valueOf(look) > valueOf(best)) best = look;
          yield 0;
        }
      }
      looks.push({ ...best, near: true });
    }

    function told() {
      const there = answering(), anywhere = looks.slice(ends).filter(({ near }) => !near), seen = there.length ? seenSpan() : null;
      const kinds = new Set(there.flatMap(({ answers }) => answers.map(({ kind }) => kind)));
      const bounds = new Set(there.flatMap(({ answers }) => answers.map(erring)));
      const shared = kinds.size === 1 && kinds.has("interval") ? common(there.map(({ answers }) => answers.map(stretchOf))) : null;
      const [low, high] = settled || (shared && shared.length ? shared[0] : seen || [NaN, NaN]);
      return {
        kind: !there.length ? "none" : settled ? "exact" : !shared ? "seen" : shared.length ? "throughout" : "somewhere", low, high, bound: !shared && bounds.size === 1 ? [...bounds][0] : "", mixed: kinds.size > 1,
        points: looks.length, unanswered: anywhere.length ? anywhere.filter(({ answers }) => !answers.length).length / anywhere.length : 0 };
    }
    return { more, told, middle: looks[0] };
  }

  const ranges = { middleAndEnds, middleOf, over };
  if (typeof module !== "undefined") module.exports = ranges;
  else (root.backsolve = root.backsolve || {}).ranges = ranges;
})(globalThis);
