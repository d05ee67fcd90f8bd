import {
  Curve,
  createClient,
  Hash,
  type NamedAddress,
  type OnboardStage,
  type SessionSource,
  SignatureAlgorithm,
  type SignStage,
  type TssClient,
  TssError,
} from "threshold-signing-service/sdk";
import { createWorkerEngine } from "threshold-signing-service/worker";
import { fromHex } from "./hex.ts";

/** The combinations that the page offers: all that the network supports. */
export const ALGORITHMS = [
  { curve: Curve.ED25519, signatureAlgorithm: SignatureAlgorithm.EdDSA, hashScheme: Hash.SHA512 },
  {
    curve: Curve.SECP256K1,
    signatureAlgorithm: SignatureAlgorithm.ECDSASecp256k1,
    hashScheme: Hash.KECCAK256,
  },
  { curve: Curve.SECP256K1, signatureAlgorithm: SignatureAlgorithm.ECDSASecp256k1, hashScheme: Hash.SHA256 },
  {
    curve: Curve.SECP256K1,
    signatureAlgorithm: SignatureAlgorithm.ECDSASecp256k1,
    hashScheme: Hash.DoubleSHA256,
  },
  { curve: Curve.SECP256K1, signatureAlgorithm: SignatureAlgorithm.Taproot, hashScheme: Hash.SHA256 },
  { curve: Curve.SECP256R1, signatureAlgorithm: SignatureAlgorithm.ECDSASecp256r1, hashScheme: Hash.SHA256 },
  { curve: Curve.RISTRETTO, signatureAlgorithm: SignatureAlgorithm.Schnorrkel, hashScheme: Hash.Merlin },
] as const;

/** The steps of a task. */
export type Step = "key" | "signature";
/** A stage of either step; docs/sdk.md describes them. */
export type Stage = OnboardStage | SignStage | "done";

/** The user's request, without its secrets. With a token it can be resumed. */
export interface Task {
  readonly baseUrl: string;
  /** An index into {@link ALGORITHMS}. */
  readonly algorithm: number;
  readonly message: string;
  readonly token?: string;
  /** The step that the token resumes. */
  readonly step?: Step;
}

/** Cancels the action, and gets its progress. */
export interface Watcher {
  readonly signal: AbortSignal;
  onStage(step: Step, stage: Stage): void;
  onKey(addresses: readonly NamedAddress[]): void;
  /** The same task with the token that resumes it. */
  onTask(task: Task): void;
}

/** A verified signature, and the addresses of the key that it is made with. */
export interface Made {
  readonly addresses: readonly NamedAddress[];
  readonly signature: Uint8Array;
}

/** Computes on workers: the page stays responsive, and two workers share the half of an ECDSA signature. */
const engine = createWorkerEngine();

/** Returns the page's client of a service. It asks for a session's token, and keeps it in memory until it expires. */
export function openClient(baseUrl: string, session: SessionSource): TssClient {
  return createClient({ baseUrl, session, network: "localnet", engine });
}

/**
 * Creates or finds the seed's key and signs with it, or resumes an interrupted task. The seed is 64 hex digits. It can be
 * empty to resume a submitted signature. Throws a TssError.
 */
export async function makeAndSign(
  client: TssClient,
  task: Task,
  seedHex: string,
  watcher: Watcher,
): Promise<Made> {
  const { signal } = watcher;
  const triple = ALGORITHMS[task.algorithm] ?? ALGORITHMS[0];
  const { curve } = triple;
  const message = new TextEncoder().encode(task.message);
  const secret = seedHex === "" ? undefined : { seed: fromHex(seedHex) };
  const optionsOf = (step: Step) => ({
    signal,
    onProgress: (stage: Stage) => watcher.onStage(step, stage),
    onResumeToken: (token: string) => watcher.onTask({ ...task, step, token }),
  });
  const { token, step = "key" } = task;
  const resumed = token && (await client.resume(token, { ...secret, message }, optionsOf(step)));
  if (resumed && resumed.kind === "sign") {
    const { dwalletId, signature } = resumed;
    const { addresses } = await client.readKey({ ...secret, dwalletId, curve }, { signal });
    return { addresses, signature };
  }
  if (secret === undefined) throw new TssError("VALIDATION", "seed: is missing");
  const name = await nameOf(secret.seed, curve);
  const key = resumed || (await client.getOrCreate({ ...secret, curve, name }, optionsOf("key")));
  watcher.onKey(key.addresses);
  const { dwallet, sessionDigestHex } = key;
  const { signature } = await client.sign(
    { ...secret, ...triple, dwalletId: dwallet.id, sessionDigestHex, message },
    optionsOf("signature"),
  );
  return { addresses: key.addresses, signature };
}

/** Derives a name from the seed. It is public: the service knows this address of the user anyway. */
async function nameOf(seed: Uint8Array, curve: Curve): Promise<string> {
  const keys = await engine.deriveUserKeys({ curve, seed });
  keys.destroy();
  return `web ${keys.signerAddress}`;
}
