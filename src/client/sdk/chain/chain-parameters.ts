import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { type CurveName, curveNumber } from "../../../protocol/algorithms.ts";
import { MalformedBytesError } from "../../../protocol/bytes.ts";
import { parseNetworkEncryptionKey } from "../../../protocol/chain/chain-objects.ts";
import {
  coordinatorInnerId,
  currentEpoch,
  KeyOutputError,
  networkKeysTableId,
  readKeyOutputs,
  tableEntryId,
  tableEntryObjectId,
} from "../../../protocol/chain/coordinator-objects.ts";
import { InvalidFormError } from "../../../protocol/class-groups/class-group.ts";
import {
  chooseKeyOutput,
  DifferingOutputsError,
  UnsupportedOutputError,
} from "../../../protocol/parameters/network-key-output.ts";
import type { CryptoEngine } from "../../crypto/engine.ts";
import type { Action } from "../action.ts";
import type { ParametersSource } from "../context.ts";
import { TssError } from "../errors.ts";
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
 * Creates a source of protocol parameters. The client's own engine builds them from the network key's output on the
 * chain. Parameters from a third party would have to be trusted: a shorter randomness range or a different table in
 * them leaks the user's share. Where the engine needs no tables, building takes milliseconds, less than reading and
 * checking a file, so the cache is in memory only.
 */
export function createChainParameters(chain: TrustedChain, engine: CryptoEngine): ParametersSource {
  // All outputs of a key encode the same parameters.
  const known = new Map<string, Uint8Array>();
  return {
    async load(action, { curve, networkEncryptionKeyId }) {
      const key = `${networkEncryptionKeyId} ${curve}`;
      const found = known.get(key);
      if (found !== undefined) return found;
      const output = await readNetworkKeyOutput(chain, action, networkEncryptionKeyId, curveNumber(curve));
      const octets = await parametersOf(engine, action, curve, output);
      remember(known, key, octets);
      return octets;
    },
  };
}

/** The size of the cache: two network keys on four curves. */
const MAX_REMEMBERED_COUNT = 8;

/**
 * The parameters that each engine has built, by curve and output. They depend on nothing else, so all clients of an
 * engine share them.
 */
const built = new WeakMap<CryptoEngine, Map<string, Uint8Array>>();

async function parametersOf(
  engine: CryptoEngine,
  { signal }: Action,
  curve: CurveName,
  networkKeyOutput: Uint8Array,
): Promise<Uint8Array> {
  const ofEngine = built.get(engine) ?? new Map<string, Uint8Array>();
  built.set(engine, ofEngine);
  const key = `${curve} ${bytesToHex(sha256(networkKeyOutput))}`;
  const found = ofEngine.get(key);
  if (found !== undefined) return found;
  const octets = await engine.buildParameters({ curve, networkKeyOutput, signal });
  remember(ofEngine, key, octets);
  return octets;
}

/** Adds an entry and evicts the oldest one when the cache is full. */
function remember(map: Map<string, Uint8Array>, key: string, octets: Uint8Array): void {
  const [oldest] = map.keys();
  if (map.size >= MAX_REMEMBERED_COUNT && oldest !== undefined) map.delete(oldest);
  map.set(key, octets);
}

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
