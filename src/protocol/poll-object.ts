import type { ChainReader } from "./chain-reader.ts";
import { FinalReadError } from "./final-read-error.ts";
import { NetworkRejectedError } from "./network-rejected-error.ts";
import { type PollOptions, poll } from "./poll.ts";

/**
 * Polls one object until it is in one of the wanted states, and returns it. A state that contains `Rejected` ends the
 * poll with {@link NetworkRejectedError}. (The Ika SDK polls until its time-out in that case.) The poll continues until
 * its time-out while the object does not exist or the fullnode does not answer. A {@link FinalReadError} ends it.
 */
export function pollObject<T extends Stateful, K extends T["state"]["kind"]>(
  reader: ChainReader,
  objectId: string,
  parse: (content: Uint8Array) => T,
  wanted: readonly K[],
  options: Omit<PollOptions, "isTransient">,
): Promise<T & { readonly state: Extract<T["state"], { readonly kind: K }> }> {
  return poll(
    async (signal) => {
      const content = (await readObjects(reader, objectId, signal)).get(objectId);
      if (content === undefined) return undefined;
      const object = parse(content);
      if (isIn(object, wanted)) return object;
      const { kind } = object.state;
      if (kind.includes("Rejected")) throw new NetworkRejectedError(objectId, kind);
      return undefined;
    },
    { ...options, isTransient: (error) => error instanceof UnansweredError },
  );
}

interface Stateful {
  readonly state: { readonly kind: string };
}

function isIn<T extends Stateful, K extends string>(
  object: T,
  wanted: readonly K[],
): object is T & { readonly state: Extract<T["state"], { readonly kind: K }> } {
  return (wanted as readonly string[]).includes(object.state.kind);
}

/** Marks a failed read, as opposed to a defect of the object that was read. */
class UnansweredError extends Error {
  override readonly name = "UnansweredError";
}

async function readObjects(
  reader: ChainReader,
  objectId: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Uint8Array>> {
  try {
    return await reader.getObjects([objectId], signal);
  } catch (cause) {
    if (cause instanceof FinalReadError) throw cause;
    throw new UnansweredError("the fullnode does not answer", { cause });
  }
}
