/** Tells when a call is over: what an `AbortSignal` has, as far as waiting for it needs. */
export interface Ending {
  readonly aborted: boolean;
  /** Why, once it is over. */
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: EndingListener, options?: { readonly once: true }): void;
  removeEventListener(type: "abort", listener: EndingListener): void;
}

/** Called once, when the call is over. */
export interface EndingListener {
  handleEvent(): void;
}

/** An {@link Ending} that costs a tenth of an `AbortSignal`, of which each has a shape of its own in V8. */
export class CallEnding implements Ending {
  #reason: Error | undefined;
  #listeners: EndingListener[] = [];

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): Error | undefined {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#reason !== undefined) throw this.#reason;
  }

  addEventListener(_type: "abort", listener: EndingListener): void {
    if (this.#reason === undefined) this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: EndingListener): void {
    this.#listeners = this.#listeners.filter((one) => one !== listener);
  }

  /** Ends it once; later ends are ignored. */
  abort(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener.handleEvent();
  }
}
