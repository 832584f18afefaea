// The text of a bucket's bound as prometheus_client writes it (`floatToGoString` of its utils.py).

/** The least exponent that `repr` of Python writes as one, and the greatest that it does not. */
const [MIN_EXPONENT, MAX_EXPONENT] = [-4, 15];
/** Numbers with more digits before the point have an exponent, too. */
const MAX_DIGITS = 6;

export function pythonFloat(value: number): string {
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  const [digits = '', power = ''] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent < MIN_EXPONENT || exponent > MAX_EXPONENT) {
    const sign = exponent < 0 ? '-' : '+';
    return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  // The library writes a zero before every exponent, also before one with two digits.
  if (value > 0 && exponent >= MAX_DIGITS) return `${digits}e+0${exponent}`;
  const text = Object.is(value, -0) ? '-0' : String(value);
  return text.includes('.') ? text : `${text}.0`;
}
