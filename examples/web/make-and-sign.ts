import {
  Curve,
  createClient,
  Hash,
  type NamedAddress,
  type OnboardStage,
  SignatureAlgorithm,
  type SignStage,
  TssError,
} from "threshold-signing-service/sdk";
import { createWorkerEngine } from "threshold-signing-service/web-worker";

/** What the page offers: each combination that the network signs with. */
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

/** The two steps, and a stage of either. */
export type Step = "key" | "signature";
/** See the SDK's guide for what each stage is. */
export type Stage = OnboardStage | SignStage | "done";

/** What was asked for, without its secrets. With a token it can be resumed. */
export interface Task {
  readonly baseUrl: string;
  /** A place in {@link ALGORITHMS}. */
  readonly algorithm: number;
  readonly message: string;
  readonly token?: string;
  /** What the token is of. */
  readonly step?: Step;
}

/** The secrets of a task. The seed is 64 hex digits; a signature that was submitted is resumed without it. */
export interface Secrets {
  readonly apiKey: string;
  readonly seedHex: string;
}

/** What the page shows and keeps on the way. */
export interface Watcher {
  readonly signal: AbortSignal;
  onStage(step: Step, stage: Stage): void;
  onKey(addresses: readonly NamedAddress[]): void;
  /** The same task with the token that goes on with it. */
  onTask(task: Task): void;
}

/** A verified signature, and the addresses of the key that it is made with. */
export interface Made {
  readonly addresses: readonly NamedAddress[];
  readonly signature: Uint8Array;
}

/** Computes on workers, so that the page stays smooth. */
const engine = createWorkerEngine();

/** Makes the seed's key, or finds it, and signs with it; or goes on with what was interrupted. Throws a TssError. */
export async function makeAndSign(task: Task, secrets: Secrets, watcher: Watcher): Promise<Made> {
  const { signal } = watcher;
  const { apiKey, seedHex } = secrets;
  const client = createClient({ baseUrl: task.baseUrl, apiKey, network: "localnet", engine });
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

/** A name that follows from the seed and is no secret: the service knows this address of the user's anyway. */
async function nameOf(seed: Uint8Array, curve: Curve): Promise<string> {
  const keys = await engine.deriveUserKeys({ curve, seed });
  keys.destroy();
  return `web ${keys.signerAddress}`;
}

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
