import { MalformedBytesError } from "../protocol/bytes.ts";
import { parseNetworkEncryptionKey } from "../protocol/chain-objects.ts";
import { InvalidFormError } from "../protocol/class-groups/class-group.ts";
import {
  coordinatorInnerId,
  currentEpoch,
  networkKeysTableId,
  tableEntryId,
  tableEntryObjectId,
} from "../protocol/coordinator-objects.ts";
import { chooseKeyOutput, DifferingOutputsError } from "../protocol/parameters/choose-key-output.ts";
import { UnsupportedOutputError } from "../protocol/parameters/network-key-output.ts";
import { KeyOutputError, readKeyOutputs } from "../protocol/read-key-outputs.ts";
import type { Action } from "./action.ts";
import { TssError } from "./errors.ts";
import {
  COORDINATOR,
  COORDINATOR_INNER,
  NETWORK_KEY,
  NETWORK_KEY_ENTRY,
  type ObjectKind,
  OUTPUT_CHUNK,
  RECONFIGURATION_ENTRY,
} from "./object-kinds.ts";
import type { TrustedChain } from "./trusted-chain.ts";

/**
 * Reads the contents of a network encryption key's outputs, in the encoding of {@link chooseKeyOutput}: the same bytes
 * in every epoch. The coordinator's own table must contain the key, and the key must support this curve (the chain's
 * integer), regardless of the source of its id. Throws PARAMETERS_MISMATCH when they do not, when an output is too
 * large or malformed, or when two outputs differ; NETWORK_UNSUPPORTED when the client cannot read the layout of the
 * coordinator or of any output.
 */
export async function readNetworkKeyOutput(
  chain: TrustedChain,
  action: Action,
  networkKeyId: string,
  curveNumber: number,
): Promise<Uint8Array> {
  const { content, epoch } = await readNetworkKey(chain, action, networkKeyId);
  const key = supported(() => parseNetworkEncryptionKey(content));
  if (!key.supportedCurveNumbers.includes(curveNumber)) {
    throw mismatch("the network encryption key is not for this curve");
  }
  let outputs: Uint8Array[];
  try {
    outputs = await readKeyOutputs(key, epoch, async (sort, objectIds) => {
      const reader = await chain.reader(action, sort === "chunk" ? OUTPUT_CHUNK : RECONFIGURATION_ENTRY);
      return reader.getObjects(objectIds, action.signal);
    });
  } catch (error) {
    if (error instanceof KeyOutputError) throw mismatch(error.message);
    throw error instanceof MalformedBytesError ? unsupported(error) : error;
  }
  try {
    return chooseKeyOutput(outputs);
  } catch (error) {
    if (error instanceof UnsupportedOutputError) throw unreadable(error);
    if (error instanceof DifferingOutputsError) throw mismatch(error.message);
    if (error instanceof MalformedBytesError || error instanceof InvalidFormError)
      throw mismatch("the network encryption key's output is malformed", error);
    throw error;
  }
}

/** Returns the key's contents, if the coordinator's own table contains it, and the network's epoch. */
async function readNetworkKey(
  chain: TrustedChain,
  action: Action,
  networkKeyId: string,
): Promise<{ content: Uint8Array; epoch: bigint }> {
  const read = async (kind: ObjectKind, objectId: string): Promise<Uint8Array | undefined> =>
    (await (await chain.reader(action, kind)).getObjects([objectId], action.signal)).get(objectId);
  const { objectId: coordinatorId } = (await chain.ids(action)).ikaDwalletCoordinator;
  const coordinator = await read(COORDINATOR, coordinatorId);
  if (coordinator === undefined) throw new TssError("NETWORK_MISMATCH", "the chain has no Ika coordinator");
  const innerId = supported(() => coordinatorInnerId(coordinatorId, coordinator));
  const inner = await read(COORDINATOR_INNER, innerId);
  if (inner === undefined) throw unsupported();
  const tableId = supported(() => networkKeysTableId(inner));
  const [entry, key] = await Promise.all([
    read(NETWORK_KEY_ENTRY, tableEntryId(tableId, networkKeyId)),
    read(NETWORK_KEY, networkKeyId),
  ]);
  if (entry === undefined || key === undefined || tableEntryObjectId(entry) !== networkKeyId) {
    throw mismatch("the chain has no network encryption key with this id");
  }
  return { content: key, epoch: currentEpoch(inner) };
}

/** Parses a value. The types of all objects are already checked, so a parse error means that Ika changed the layout. */
function supported<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof MalformedBytesError ? unsupported(error) : error;
  }
}

function unsupported(cause?: unknown): TssError {
  return new TssError(
    "NETWORK_UNSUPPORTED",
    "this client cannot read the layout of Ika's objects on the chain",
    {
      cause,
    },
  );
}

function unreadable(cause: UnsupportedOutputError): TssError {
  const help =
    cause.version === 1
      ? "use a newer network encryption key, or wait for the network's next epoch, which writes an output that can be read"
      : "use a newer version of this client";
  return new TssError(
    "NETWORK_UNSUPPORTED",
    `the network encryption key's output has version ${cause.version}, which this client cannot read: ${help}`,
    { cause },
  );
}

function mismatch(message: string, cause?: unknown): TssError {
  return new TssError("PARAMETERS_MISMATCH", message, { cause });
}
