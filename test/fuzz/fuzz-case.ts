/** How the client leaves: waits until the server closes, announces that it will send no more, closes, or resets. */
export type Ending = "wait" | "finish" | "close" | "reset";

/** One conversation of a client with the server. Everything in it follows from its seed. */
export interface FuzzCase {
  /** Counted from 0. */
  readonly number: number;
  readonly kind: string;
  /** The bytes to send, split into writes. */
  readonly writes: readonly Buffer[];
  readonly ending: Ending;
  /** The protocol that a client of a TLS port agrees on; undefined for bytes that go to the port without TLS. */
  readonly alpn: "h2" | "http/1.1" | undefined;
  /** Whether the limits let the connection stay open as long as the client wants. */
  readonly mayStay: boolean;
}

/** Describes a case for people, and for a debugger. */
export function describeCase({ number, kind, writes, ending, alpn }: FuzzCase): string {
  const bytes = writes.map((write) => write.toString("hex")).join(" | ");
  return `case ${number} (${kind}, ${alpn ?? "plain"}, then ${ending}): ${bytes}`;
}
