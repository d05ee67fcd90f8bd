import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { encodeVector } from "../../protocol/bytes.ts";
import { classGroupOfCurve } from "../../protocol/class-groups/class-group.ts";
import { composeForms, type Form } from "../../protocol/class-groups/forms.ts";
import {
  decodeNetworkKeyOutput,
  encodeNetworkKeyOutput,
} from "../../protocol/parameters/network-key-output.ts";
import { u64Bytes } from "../fullnode/objects/sui-types.ts";

/**
 * Returns the output of the reconfiguration that hands a network key over to an epoch's committee, in the format of the
 * live networks: the key's unchanged shares and keys, and the committee's maps and tail. This network has no
 * committees, so the maps contain arbitrary forms and the tail is noise.
 */
export function reconfigurationOutput(dkgPublicOutput: Uint8Array, epoch: bigint): Uint8Array {
  const output = decodeNetworkKeyOutput(dkgPublicOutput);
  const group = classGroupOfCurve(0);
  const partyCount = FEWEST_PARTIES + Number(epoch % COMMITTEE_SIZES);
  const parties = new Map<number, Form>();
  let form = output.encryptionKeys[0];
  for (let id = 1; id <= partyCount; id++) {
    form = composeForms(group, form, group.h);
    parties.set(id, form);
  }
  const tail = noise(utf8ToBytes(`reconfiguration ${epoch}`), partyCount * TAIL_BYTES_PER_PARTY);
  return encodeNetworkKeyOutput(output, { version: VERSION, parties, tail });
}

/** The version that the live networks write today. */
const VERSION = 4;
const FEWEST_PARTIES = 4;
/** The number of different committee sizes, used in turn. */
const COMMITTEE_SIZES = 4n;
/** The approximate size of a real output's tail after its maps, per party. */
const TAIL_BYTES_PER_PARTY = 6 * 1024;

/** Returns a key's DKG output in version 1, which today's clients cannot read. */
export function version1Output(dkgPublicOutput: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(0), encodeVector(noise(dkgPublicOutput, dkgPublicOutput.length)));
}

/** Returns pseudo-random bytes derived from a label. */
function noise(label: Uint8Array, length: number): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (let index = 0n; blocks.length * 32 < length; index++)
    blocks.push(sha256(concatBytes(label, u64Bytes(index))));
  return concatBytes(...blocks).subarray(0, length);
}
