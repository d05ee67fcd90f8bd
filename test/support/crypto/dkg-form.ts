import { concatBytes } from "@noble/hashes/utils.js";
import type { CurveName } from "../../../src/protocol/algorithms.ts";
import { encodeVector } from "../../../src/protocol/bytes.ts";
import type { DkgParts } from "../../../src/protocol/check-dkg-message.ts";
import { curveGroup, type GroupPoint } from "../../../src/protocol/signatures/curve-group.ts";

/** A well-formed DKG message of a user with meaningless proofs. Each number makes a different message. */
export function dkgOfForm(curve: CurveName = "SECP256K1", number = 7): DkgParts {
  const { base, point, scalar, userShare, networkShare, encryptedShare } = partsOf(curve, number);
  const times = (part: Uint8Array, count: number) => Array.from({ length: count }, () => part);
  return {
    userDkgMessage: versioned(
      0,
      ...times(point(base), 16),
      ...times(scalar, 16),
      ...times(encodeVector(new Uint8Array(16)), 16),
      point(userShare),
    ),
    encryptedUserShareAndProof: versioned(0, encryptedShare),
    userPublicOutput: versioned(
      1,
      ...[Uint8Array.of(1), point(userShare), point(userShare.add(networkShare)), point(networkShare)],
      ...times(encodeVector(new Uint8Array(32)), 4),
    ),
  };
}

/** The same for the verification of an imported key. */
export function importOfForm(curve: CurveName = "SECP256K1", number = 7): DkgParts {
  const { base, point, scalar, userShare, networkShare, encryptedShare } = partsOf(curve, number);
  const shares = [point(userShare), point(networkShare)] as const;
  return {
    userDkgMessage: versioned(0, point(base), scalar, encryptedShare, ...shares),
    encryptedUserShareAndProof: versioned(0, encryptedShare),
    userPublicOutput: versioned(
      1,
      ...[Uint8Array.of(0), shares[0], point(userShare.add(networkShare)), shares[1]],
    ),
  };
}

function partsOf(curve: CurveName, number: number) {
  const { base, isSecp } = curveGroup(curve);
  const point = (of: GroupPoint) => (isSecp ? encodeVector(of.toBytes()) : of.toBytes());
  const scalar = isSecp ? encodeVector(new Uint8Array(32)) : new Uint8Array(32);
  const form = encodeVector(new Uint8Array(256));
  const [userShare, networkShare] = [base.multiply(BigInt(number)), base.multiply(3n)];
  const randomness = encodeVector(new Uint8Array(192));
  const encryptedShare = concatBytes(form, form, point(base), scalar, randomness, form, form);
  return { base, point, scalar, userShare, networkShare, encryptedShare };
}

function versioned(tag: number, ...parts: Uint8Array[]): Uint8Array {
  return concatBytes(Uint8Array.of(tag), encodeVector(concatBytes(...parts)));
}
