/** Returns the smallest set of numbers whose removal leaves the others ascending. All numbers must be different. */
export function outOfPlace(numbers: readonly bigint[]): bigint[] {
  // Patience sorting: the top of each pile is the smallest end of an ascending run of that length.
  const tops: number[] = [];
  const before: (number | undefined)[] = [];
  for (const [index, number] of numbers.entries()) {
    const pile = firstPileNotBelow(number);
    before.push(tops[pile - 1]);
    tops[pile] = index;
  }
  const kept = new Set<number>();
  for (let index = tops.at(-1); index !== undefined; index = before[index]) kept.add(index);
  return numbers.filter((_number, index) => !kept.has(index));

  function firstPileNotBelow(number: bigint): number {
    let [low, high] = [0, tops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[tops[middle] ?? 0] ?? 0n) < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
