import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Curve,
  createUserSignMessageWithPublicOutput,
  type DKGRequestInput,
  prepareDKG,
  publicKeyFromDWalletOutput,
  sessionIdentifierDigest,
  verifyUserShare,
} from "@ika.xyz/sdk";
import { concatBytes } from "@noble/hashes/utils.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSignMessage } from "../../src/client/crypto/create-sign-message.ts";
import { createNetworkMpc } from "../../src/localnet/mpc/create-network-mpc.ts";
import type {
  MpcOutcome,
  NetworkDkgInput,
  NetworkMpc,
  NetworkSignInput,
} from "../../src/localnet/mpc/engine.ts";
import { ALGORITHM_TRIPLES, type AlgorithmTriple, CURVES } from "../../src/protocol/algorithms.ts";
import { runSteps } from "../../src/protocol/chain/read-errors.ts";
import { deriveClassGroupsKeypair } from "../../src/protocol/class-groups/keypair.ts";
import { buildProtocolParameters } from "../../src/protocol/parameters/build-protocol-parameters.ts";
import { isEcdsa } from "../../src/protocol/signatures/signature-forms.ts";
import { ECDSA_PARTS } from "../support/crypto/ecdsa-parts.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { atNight, environment } from "../support/environment.ts";

/** The unmodified SDK acts as the user and the localnet's MPC as the network, without a chain. */

let directory: string;
let mpc: NetworkMpc;
let networkOutput: Uint8Array;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "localnet-mpc-"));
  mpc = await createNetworkMpc({ seed: new Uint8Array(32).fill(11), cacheDirectory: directory });
  networkOutput = await mpc.networkDkgPublicOutput();
});
afterAll(async () => {
  await mpc.close();
  rmSync(directory, { recursive: true, force: true });
});

const REJECTED = { kind: "rejected", reason: expect.stringMatching(/./) };
const OTHER_KEY_SEED = new Uint8Array(32).fill(13);

function completed(outcome: MpcOutcome): Uint8Array {
  if (outcome.kind === "rejected") throw new Error(`rejected: ${outcome.reason}`);
  return outcome.output;
}

function flip(bytes: Uint8Array, index: number): Uint8Array {
  return bytes.with(index, bytes[index]! ^ 1);
}

/** A DKG as the SDK prepares it, and as the network receives it. */
async function prepare(curve: number, parameters: Uint8Array, encryptionKey: Uint8Array) {
  const identifier = crypto.getRandomValues(new Uint8Array(32));
  const sender = new Uint8Array(32).fill(0x11);
  const name = CURVES[curve] as Curve;
  const request: DKGRequestInput = await prepareDKG(
    parameters,
    name,
    encryptionKey,
    identifier,
    `0x${"11".repeat(32)}`,
  );
  const input: NetworkDkgInput = {
    curve,
    sessionId: sessionIdentifierDigest(identifier, sender),
    userDkgMessage: request.userDKGMessage,
    userPublicOutput: request.userPublicOutput,
    encryptedShareAndProof: request.encryptedUserShareAndProof,
    encryptionKey,
  };
  return { request, input };
}

/** The SDK's types tie the hash to the algorithm, and the algorithm to the curve; here they come from a table. */
const createSdkSignMessage = createUserSignMessageWithPublicOutput as (
  parameters: Uint8Array,
  dwalletOutput: Uint8Array,
  share: Uint8Array,
  presign: Uint8Array,
  message: Uint8Array,
  hash: string,
  signatureAlgorithm: string,
  curve: string,
) => Promise<Uint8Array>;

// The curves differ in little, the first one has both families of signatures, and other tests sign on all of them.
describe.each(atNight([0, 1, 2, 3], [0]))("on curve %i", (curve) => {
  const all = ALGORITHM_TRIPLES.filter((triple) => triple.curveNumber === curve);
  // The hash of ECDSA changes only the number that is signed.
  const triples = atNight(
    all,
    all.filter(({ signatureAlgorithm, hash }) => !isEcdsa(signatureAlgorithm) || hash === "SHA256"),
  );
  let parameters: Uint8Array;
  let first: Awaited<ReturnType<typeof prepare>>;
  let second: Awaited<ReturnType<typeof prepare>>;
  let dwalletOutput: Uint8Array;
  let otherOutput: Uint8Array;
  let publicKey: Uint8Array;

  beforeAll(async () => {
    parameters = buildProtocolParameters(curve, networkOutput);
    const { encryptionKey } = deriveClassGroupsKeypair(curve, new Uint8Array(32).fill(12));
    first = await prepare(curve, parameters, encryptionKey);
    second = await prepare(curve, parameters, encryptionKey);
    dwalletOutput = completed(await mpc.dkg(first.input));
    otherOutput = completed(await mpc.dkg(second.input));
    publicKey = await publicKeyFromDWalletOutput(CURVES[curve] as Curve, dwalletOutput);
  });

  const presignOf = async ({ signatureAlgorithmNumber }: AlgorithmTriple, sessionId = randomSession()) =>
    completed(await mpc.presign({ curve, signatureAlgorithm: signatureAlgorithmNumber, sessionId }));

  /** Creates the user's half with the SDK; an ECDSA half, which takes the SDK ten seconds, only in reference runs. */
  const createHalf = async (triple: AlgorithmTriple, presign: Uint8Array, message: Uint8Array) => {
    const userSecretKeyShare = Uint8Array.from(first.request.userSecretKeyShare);
    if (isEcdsa(triple.signatureAlgorithm) && !environment.isReference)
      return runSteps(
        createSignMessage({ triple, parameters, dwalletOutput, userSecretKeyShare, presign, message }),
      );
    const sdkName =
      triple.signatureAlgorithm === "Schnorrkel" ? "SchnorrkelSubstrate" : triple.signatureAlgorithm;
    return await createSdkSignMessage(
      ...([parameters, dwalletOutput, userSecretKeyShare, presign, message] as const),
      ...([triple.hash, sdkName, triple.curve] as const),
    );
  };

  /** The network's input for a signature, with the user's half. */
  const prepareSign = async (triple: AlgorithmTriple): Promise<NetworkSignInput> => {
    const presign = await presignOf(triple);
    const message = new TextEncoder().encode(`${triple.curve} ${triple.signatureAlgorithm} ${triple.hash}`);
    const userSignMessage = await createHalf(triple, presign, message);
    return {
      curve,
      signatureAlgorithm: triple.signatureAlgorithmNumber,
      hashScheme: triple.hashNumber,
      dwalletPublicOutput: dwalletOutput,
      presign,
      message,
      userSignMessage,
    };
  };

  it("the SDK finds its share in the dWallet that the network completed", async () => {
    const share = first.request.userSecretKeyShare;
    const name = CURVES[curve] as Curve;
    expect(await verifyUserShare(name, share, dwalletOutput, parameters)).toBe(true);
  });

  describe("a DKG is rejected", () => {
    it("in a session that it was not made for", async () => {
      expect(await mpc.dkg({ ...first.input, sessionId: second.input.sessionId })).toEqual(REJECTED);
    });
    it("with the encrypted share of another DKG", async () => {
      const { encryptedShareAndProof } = second.input;
      expect(await mpc.dkg({ ...first.input, encryptedShareAndProof })).toEqual(REJECTED);
    });
    it("with the public output of another DKG", async () => {
      const { userPublicOutput } = second.input;
      expect(await mpc.dkg({ ...first.input, userPublicOutput })).toEqual(REJECTED);
    });
    it("for an encryption key that the share was not encrypted to", async () => {
      const { encryptionKey } = deriveClassGroupsKeypair(curve, OTHER_KEY_SEED);
      expect(await mpc.dkg({ ...first.input, encryptionKey })).toEqual(REJECTED);
    });

    const [point, scalar] = curve < 2 ? [34, 33] : [32, 32];
    const dkgParts = {
      mask: 3 + 20,
      response: 3 + 16 * point + 10,
      challenge: 3 + 16 * (point + scalar) + 1,
    };
    it.each(Object.entries({ ...dkgParts, "public share": 3 + 16 * (point + scalar + 17) + 20 }))(
      "with one bit flipped in its proof: %s",
      async (_, index) => {
        const userDkgMessage = flip(first.input.userDkgMessage, index);
        expect(await mpc.dkg({ ...first.input, userDkgMessage })).toEqual(REJECTED);
      },
    );
    const afterMask = 3 + 516 + point;
    it.each(
      Object.entries({
        "mask ciphertext": 3 + 40,
        "mask point": 3 + 516 + 20,
        "share's response": afterMask + 10,
        "randomness response": afterMask + scalar + 10,
        ciphertext: afterMask + scalar + 194 + 40,
      }),
    )("with one bit flipped in the encrypted share's proof: %s", async (_, index) => {
      const encryptedShareAndProof = flip(first.input.encryptedShareAndProof, index);
      expect(await mpc.dkg({ ...first.input, encryptedShareAndProof })).toEqual(REJECTED);
    });
  });

  describe.each(triples)("$signatureAlgorithm with $hash", (triple) => {
    let sign: NetworkSignInput;

    beforeAll(async () => {
      sign = await prepareSign(triple);
    });

    it("makes a signature that an outside library accepts", async () => {
      const signature = completed(await mpc.sign(sign));
      const encoded =
        signature.length === 65 ? concatBytes(signature.subarray(1), signature.subarray(0, 1)) : signature;
      const { signatureAlgorithm, hash } = triple;
      expect(
        isValidSignature({ signatureAlgorithm, hash, publicKey, message: sign.message, signature: encoded }),
      ).toBe(true);
      const message = flip(sign.message, 0);
      expect(isValidSignature({ signatureAlgorithm, hash, publicKey, message, signature: encoded })).toBe(
        false,
      );
    });

    describe("it is rejected", () => {
      it("for another message", async () => {
        expect(await mpc.sign({ ...sign, message: flip(sign.message, 0) })).toEqual(REJECTED);
      });

      it("for another presign", async () => {
        expect(await mpc.sign({ ...sign, presign: await presignOf(triple) })).toEqual(REJECTED);
      });

      it("for another dWallet of the same network", async () => {
        expect(await mpc.sign({ ...sign, dwalletPublicOutput: otherOutput })).toEqual(REJECTED);
      });

      if (triple.hash === "SHA256" && triple.signatureAlgorithm.startsWith("ECDSA")) {
        it.each(ECDSA_PARTS)("with one bit flipped in %s", async (_, index) => {
          expect(sign.userSignMessage).toHaveLength(7144);
          expect(await mpc.sign({ ...sign, userSignMessage: flip(sign.userSignMessage, index) })).toEqual(
            REJECTED,
          );
        });
      }
      if (!triple.signatureAlgorithm.startsWith("ECDSA")) {
        it.each([
          ["nonce", 20],
          ["response", -5],
        ])("with one bit flipped in the partial signature's %s", async (_, index) => {
          const at = index < 0 ? sign.userSignMessage.length + index : index;
          expect(await mpc.sign({ ...sign, userSignMessage: flip(sign.userSignMessage, at) })).toEqual(
            REJECTED,
          );
        });
      }
    });
  });
});

function randomSession(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(32));
}
