import type { DescEnum } from "@bufbuild/protobuf";
import { networkTraits } from "../../protocol/network-traits.ts";

/**
 * Formats a whole number with grouped digits. Returns an empty text for a fraction, such as a tick between two counts.
 */
export function formatCount(count: number | bigint): string {
  return typeof count === "bigint" || Number.isInteger(count) ? count.toLocaleString("en") : "";
}

/** Returns the contract's name of an enum value, or its number if this console does not know it. */
export function enumName(schema: DescEnum, value: number): string {
  return schema.value[value]?.name ?? `${value}`;
}

/** Formats bytes as lower-case hex digits. */
export function formatHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Shortens an id to its start and end: `0x1234…cdef`. */
export function shortId(id: string): string {
  return id.length <= 16 ? id : `${id.slice(0, id.startsWith("0x") ? 8 : 6)}…${id.slice(-6)}`;
}

/** Returns the URL of a transaction, an object or an account in an explorer; undefined on a network without one. */
export function explorerUrl(
  network: string,
  kind: "tx" | "object" | "account",
  id: string,
): string | undefined {
  const { explorerUrl: base } = networkTraits(network);
  return base && `${base}/${kind}/${encodeURIComponent(id)}`;
}
