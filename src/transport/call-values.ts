import type { ContextKey, ContextValues } from "@connectrpc/connect";

/** The context values of one call. They behave like the RPC library's, without closures per call. */
export class CallValues implements ContextValues {
  [id: symbol]: unknown;

  get<T>(key: ContextKey<T>): T {
    return key.id in this ? (this[key.id] as T) : key.defaultValue;
  }

  set<T>(key: ContextKey<T>, value: T): this {
    this[key.id] = value;
    return this;
  }

  delete(key: ContextKey<unknown>): this {
    delete this[key.id];
    return this;
  }
}
