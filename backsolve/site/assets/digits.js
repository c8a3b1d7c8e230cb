// Numbers of thirty digits, for what is lost where nearly equal ones are taken from each other: pairs of a number and what it lacks.
// derive/expressions/digits.py has fifty for the same; T. J. Dekker, A floating-point technique for extending the available precision, 1971.
"use strict";

(function (root) {
  const sum = (a, b) => { const s = a + b, t = s - a; return [s, a - (s - t) + (b - t)]; };
  const halves = (a) => { const c = 134217729 * a, high = c - (c - a); return [high, a - high]; };
  const product = (a, b) => {
    const p = a * b, [ah, al] = halves(a), [bh, bl] = halves(b);
    return [p, Number.isFinite(p) ? ah * bh - p + ah * bl + al * bh + al * bl : 0];
  };
  const settled = (high, low) => (Number.isFinite(high) ? sum(high, low) : [high, 0]);
  const plus = (a, b) => { const [s, rest] = sum(a[0], b[0]), [t, last] = sum(a[1], b[1]); const [h, l] = settled(s, rest + t); return settled(h, l + last); };
  const minus = (a) => [-a[0], -a[1]];
  const times = (a, b) => { const [p, rest] = product(a[0], b[0]); return settled(p, rest + a[0] * b[1] + a[1] * b[0]); };
  const over = (a, b) => {
    if (b[0] === 0) return [NaN, 0];
    const first = a[0] / b[0], left = plus(a, minus(times([first, 0], b))), second = left[0] / b[0];
    const last = plus(left, minus(times([second, 0], b)))[0] / b[0];
    return Number.isFinite(first) ? plus(settled(first, second), [last, 0]) : [first, 0];
  };
  const LN2 = [0.6931471805599453, 2.3190468138462996e-17];
  const exp = (a) => {
    const whole = Math.round(a[0] / LN2[0]), SHRUNK = 1 / 512;
    const x = times(plus(a, minus(times([whole, 0], LN2))), [SHRUNK, 0]);
    let power = x, rise = x; // exp(x) - 1 keeps the digits of a small x
    for (let k = 2; k < 12; k++) { power = over(times(power, x), [k, 0]); rise = plus(rise, power); }
    for (let k = 0; k < 9; k++) rise = plus(times([2, 0], rise), times(rise, rise));
    const made = plus(rise, [1, 0]), scale = 2 ** Math.trunc(whole / 2), rest = 2 ** (whole - Math.trunc(whole / 2));
    return [made[0] * scale * rest, made[1] * scale * rest];
  };
  const log = (a) => {
    if (!(a[0] > 0)) return [NaN, 0];
    const near = [Math.log(a[0]), 0];
    return plus(near, plus(times(a, exp(minus(near))), [-1, 0]));
  };
  const sqrt = (a) => {
    if (!(a[0] > 0)) return [Math.sqrt(a[0]), 0];
    const near = [Math.sqrt(a[0]), 0], left = plus(a, minus(times(near, near)));
    return plus(near, [left[0] / (2 * near[0]), 0]);
  };
  const power = (base, exponent) => {
    if (exponent[1] === 0 && Number.isInteger(exponent[0]) && Math.abs(exponent[0]) <= 1024) {
      let made = [1, 0], square = base;
      for (let left = Math.abs(exponent[0]); left; left = Math.floor(left / 2)) {
        if (left % 2) made = times(made, square);
        square = times(square, square);
      }
      return exponent[0] < 0 ? over([1, 0], made) : made;
    }
    return base[0] === 0 ? [exponent[0] > 0 ? 0 : NaN, 0] : exp(times(exponent, log(base)));
  };
  const isBelow = (a, b) => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);

  /** The operations of trees on pairs. */
  const OF_PAIRS = {
    "+": plus, "*": times, "/": over, "**": power, "-": minus, sqrt, log, exp,
    Max: (a, b) => (isBelow(a, b) ? b : a),
    Min: (a, b) => (isBelow(b, a) ? b : a),
    number: (a) => (Array.isArray(a) ? a : [a, 0]),
  };

  const digits = { OF_PAIRS, isBelow, minus, over, plus };
  if (typeof module !== "undefined") module.exports = digits;
  else (root.backsolve = root.backsolve || {}).digits = digits;
})(globalThis);
