/**
 * Runs work, yields the stages that it reports, and finally its result. Stages wait for a slow reader; a signature or a
 * key has about ten. If the reader leaves, the work goes on or ends by its own signal.
 */
export async function* withStages<S, T>(
  work: (onStage: (stage: S) => void) => Promise<T>,
): AsyncGenerator<{ readonly stage: S } | { readonly result: T }, void, undefined> {
  const waiting: S[] = [];
  let wake = () => {};
  let outcome: PromiseSettledResult<T> | undefined;
  const onStage = (stage: S) => {
    waiting.push(stage);
    wake();
  };
  void Promise.allSettled([work(onStage)]).then(([settled]) => {
    outcome = settled;
    wake();
  });
  for (;;) {
    const stage = waiting.shift();
    if (stage !== undefined) yield { stage };
    else if (outcome?.status === "rejected") throw outcome.reason;
    else if (outcome !== undefined) {
      yield { result: outcome.value };
      return;
    } else {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
}
