/**
 * Returns the non-zero digits of `value` in width-w non-adjacent form: value is the sum of digit * 2^position. All
 * digits are odd and below 2^(width-1) in magnitude.
 */
export function nonAdjacentForm(value: bigint, width: number): SignedDigit[] {
  const bits = [...value.toString(2)].reverse().map(Number);
  const digits: SignedDigit[] = [];
  let carry = 0;
  let position = 0;
  while (position < bits.length || carry !== 0) {
    if ((((bits[position] ?? 0) + carry) & 1) === 0) {
      carry = ((bits[position] ?? 0) + carry) >> 1;
      position++;
      continue;
    }
    let digit = carry;
    for (let index = 0; index < width; index++) digit += (bits[position + index] ?? 0) << index;
    carry = digit >= 1 << (width - 1) ? 1 : 0;
    digits.push({ position, digit: digit - (carry << width) });
    position += width;
  }
  return digits;
}

/** The digit times 2^position. */
export interface SignedDigit {
  readonly position: number;
  readonly digit: number;
}
