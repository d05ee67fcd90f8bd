/**
 * Creates an empty queue.
 *
 * @example
 * const queue = createFairQueue<string>({ maxCount: 100, subjectMaxCount: 10 });
 * queue.push("a", "first");
 */
export function createFairQueue<Item>({ maxCount, subjectMaxCount }: FairQueueBounds): FairQueue<Item> {
  /** The items by subject. The next subject in turn comes first. No list is empty. */
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

/** A queue that serves its subjects in turn, so that a subject with many items does not delay one with few. */
export interface FairQueue<Item> {
  /**
   * Adds an item. Returns the dropped item, if any: this item if its subject is at its limit; if the whole queue is
   * full, the newest item of the subject with the most items.
   */
  push(subject: string, item: Item): Item | undefined;
  /** Removes and returns the oldest item of the next subject in turn. */
  shift(): Item | undefined;
  /** Removes and returns all items. */
  clear(): Item[];
}

/** The limits of a {@link FairQueue}, in items. */
export interface FairQueueBounds {
  readonly maxCount: number;
  /** For one subject. */
  readonly subjectMaxCount: number;
}
