/**
 * Acts on items one after another, and leaves out those that are done: another try after a failure continues where it
 * stopped. Rejects with the first failure.
 *
 * @param done has each item for which `act` has succeeded
 */
export async function eachInTurn<Item>(
  items: readonly Item[],
  done: Set<Item>,
  act: (item: Item) => Promise<unknown>,
): Promise<void> {
  for (const item of items) {
    if (done.has(item)) continue;
    await act(item);
    done.add(item);
  }
}
