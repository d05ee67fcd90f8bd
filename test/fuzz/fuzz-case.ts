/** How the client leaves: it waits until the server closes, says that it will send no more, closes, or resets. */
export type Ending = "wait" | "finish" | "close" | "reset";

/** One conversation that a client has with the server, all of it from its seed. */
export interface FuzzCase {
  /** From 0. */
  readonly number: number;
  readonly kind: string;
  /** What is sent, in the pieces that it is written in. */
  readonly writes: readonly Buffer[];
  readonly ending: Ending;
  /** What a client of a TLS port agrees on; undefined for bytes that go to the port without TLS. */
  readonly alpn: "h2" | "http/1.1" | undefined;
  /** Whether the limits let the connection stay open for as long as the client wants. */
  readonly mayStay: boolean;
}

/** A case for people, and for a debugger. */
export function describeCase({ number, kind, writes, ending, alpn }: FuzzCase): string {
  const bytes = writes.map((write) => write.toString("hex")).join(" | ");
  return `case ${number} (${kind}, ${alpn ?? "plain"}, then ${ending}): ${bytes}`;
}
