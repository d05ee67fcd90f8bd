import type { MpcOutcome, NetworkMpc } from "../../../src/localnet/mpc/engine.ts";

/**
 * An MPC that answers at once: outputs contain their own names, and a first byte 0xff in the user's part is rejected.
 */
export function createCheapMpc(overrides: Partial<NetworkMpc> = {}): NetworkMpc {
  const completed = (...parts: Uint8Array[]): MpcOutcome => ({
    kind: "completed",
    output: Uint8Array.from(parts.flatMap((part) => [...part])),
  });
  const verdict = (input: Uint8Array, outcome: MpcOutcome): MpcOutcome =>
    input[0] === 0xff ? { kind: "rejected", reason: "marked as bad" } : outcome;
  return {
    networkDkgPublicOutput: async () => Uint8Array.from({ length: 12_345 }, (_, index) => index % 251),
    networkReconfigurationPublicOutput: async (epoch) => new Uint8Array(6_000).fill(Number(epoch)),
    dkg: async (input) => {
      const made = verdict(input.userDkgMessage, completed(Uint8Array.of(1), input.sessionId));
      return made.kind === "rejected" ? made : { ...made, signature: input.sign?.message };
    },
    importKey: async (input) => verdict(input.userMessage, completed(Uint8Array.of(1), input.sessionId)),
    presign: async (input) => completed(Uint8Array.of(1), input.sessionId),
    sign: async (input) => verdict(input.userSignMessage, completed(Uint8Array.of(3), input.message)),
    checkEncryptedShare: async (input) => verdict(input.encryptedShareAndProof, completed()),
    checkUserSignature: async (input) => verdict(input.userSignMessage, completed()),
    checkPublicShare: async (input) => verdict(input.publicUserShare, completed()),
    close: async () => undefined,
    ...overrides,
  };
}
