/** A queue that serves its subjects in turn, so that the many items of one do not delay the few of another. */
export interface FairQueue<Item> {
  /**
   * Adds an item, and returns the item that has no place, if there is one: this item where its subject has its share
   * already; where the whole queue is full, the newest item of the subject that has most.
   */
  push(subject: string, item: Item): Item | undefined;
  /** Removes the next item: the oldest of the subject whose turn it is. */
  shift(): Item | undefined;
  /** Removes and returns all items. */
  clear(): Item[];
}

/** How many items a {@link FairQueue} holds. */
export interface FairQueueBounds {
  readonly maxCount: number;
  /** For one subject. */
  readonly subjectMaxCount: number;
}

/** An empty queue. */
export function createFairQueue<Item>({ maxCount, subjectMaxCount }: FairQueueBounds): FairQueue<Item> {
  /** The subject whose turn it is comes first. None is empty. */
  const waiting = new Map<string, Item[]>();
  let count = 0;
  return {
    push(subject, item) {
      const own = waiting.get(subject);
      if (own !== undefined && own.length >= subjectMaxCount) return item;
      if (own === undefined) waiting.set(subject, [item]);
      else own.push(item);
      count++;
      return count > maxCount ? removeFromLongest() : undefined;
    },
    shift() {
      for (const [subject, items] of waiting) {
        waiting.delete(subject);
        const item = items.shift();
        if (items.length > 0) waiting.set(subject, items);
        count--;
        return item;
      }
      return undefined;
    },
    clear() {
      const items = [...waiting.values()].flat();
      waiting.clear();
      count = 0;
      return items;
    },
  };

  function removeFromLongest(): Item | undefined {
    let longest: [string, Item[]] | undefined;
    for (const entry of waiting) if (entry[1].length >= (longest?.[1].length ?? 0)) longest = entry;
    if (longest === undefined) return undefined;
    const [subject, items] = longest;
    const item = items.pop();
    if (items.length === 0) waiting.delete(subject);
    count--;
    return item;
  }
}
