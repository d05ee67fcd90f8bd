import pg from "pg";

/** A statement as the server received it. */
export interface RecordedStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** A class of connections for a pool. It records their statements, each text once. */
export function recordingClient(recorded: Map<string, RecordedStatement>): typeof pg.Client {
  return class extends pg.Client {
    // pg has many overloads of this function. All of them pass a text, or a configuration with a text.
    override query(...parameters: unknown[]): never {
      const [first, second] = parameters as [string | { text?: string; values?: unknown[] }, unknown];
      const text = typeof first === "string" ? first : first.text;
      const values = typeof first === "string" ? second : (first.values ?? second);
      if (text !== undefined && !recorded.has(text))
        recorded.set(text, { text, values: Array.isArray(values) ? values : [] });
      return super.query(...(parameters as [string])) as never;
    }
  };
}
