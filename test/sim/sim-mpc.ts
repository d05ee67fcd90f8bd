import { createHash } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { concatBytes } from "@noble/hashes/utils.js";
import type { MpcOutcome, NetworkMpc } from "../../src/localnet/mpc/engine.ts";
import { encodeVector } from "../../src/protocol/bytes.ts";
import { parseDWalletOutput } from "../../src/protocol/dwallet-output.ts";

/** The last byte of a user's sign message that this network rejects. */
export const JUNK = 0xff;

/**
 * Creates a network that makes real signatures without MPC: it derives both shares of every secp256k1 key from the
 * session. That is cheap, and signatures can be verified as usual.
 */
export function createSimMpc(): NetworkMpc {
  const secrets = new Map<string, bigint>();
  const completed = (output: Uint8Array): MpcOutcome => ({ kind: "completed", output });
  return {
    networkDkgPublicOutput: async () => new Uint8Array(100).fill(1),
    networkReconfigurationPublicOutput: async () => new Uint8Array(100).fill(1),
    async dkg({ sessionId }) {
      const [user, network] = [scalar("user", sessionId), scalar("network", sessionId)];
      const secret = (user + network) % secp256k1.Point.Fn.ORDER;
      const publicKey = point(secret);
      secrets.set(Buffer.from(publicKey).toString("hex"), secret);
      return completed(dwalletOutput(publicKey, point(user), point(network)));
    },
    presign: async ({ sessionId }) => completed(concatBytes(Uint8Array.of(1), sessionId)),
    async sign({ dwalletPublicOutput, message, userSignMessage }) {
      if (userSignMessage.at(-1) === JUNK) return { kind: "rejected", reason: "junk" };
      const { publicKey } = parseDWalletOutput("SECP256K1", dwalletPublicOutput);
      const secret = secrets.get(Buffer.from(publicKey).toString("hex"));
      if (secret === undefined) return { kind: "rejected", reason: "unknown key" };
      const digest = createHash("sha256").update(message).digest();
      const key = Buffer.from(secret.toString(16).padStart(64, "0"), "hex");
      return completed(secp256k1.sign(digest, key, { prehash: false, format: "recovered" }));
    },
    importKey: notSimulated,
    checkEncryptedShare: notSimulated,
    checkUserSignature: notSimulated,
    checkPublicShare: notSimulated,
    close: async () => undefined,
  };
}

/** The service opens no session of the other kinds. */
async function notSimulated(): Promise<MpcOutcome> {
  return { kind: "rejected", reason: "not simulated" };
}

function scalar(name: string, sessionId: Uint8Array): bigint {
  const hash = createHash("sha256").update(name).update(sessionId).digest("hex");
  return secp256k1.Point.Fn.create(BigInt(`0x${hash}`));
}

function point(secret: bigint): Uint8Array {
  return secp256k1.Point.BASE.multiply(secret).toBytes();
}

/** The layout that `parseDWalletOutput` reads, with zeros for unused parts. */
function dwalletOutput(publicKey: Uint8Array, user: Uint8Array, network: Uint8Array): Uint8Array {
  const form = encodeVector(new Uint8Array(256));
  const number = encodeVector(new Uint8Array(32));
  const body = concatBytes(
    Uint8Array.of(1),
    encodeVector(network),
    encodeVector(publicKey),
    form,
    form,
    encodeVector(user),
    number,
    number,
    number,
    encodeVector(new Uint8Array(32)),
  );
  return concatBytes(Uint8Array.of(1), encodeVector(publicKey), encodeVector(body));
}
