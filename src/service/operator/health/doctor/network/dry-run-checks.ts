import { randomBytes } from "node:crypto";
import {
  ALGORITHM_TRIPLES,
  type AlgorithmTriple,
  CURVE_ALGORITHMS,
  CURVES,
  curveNumber,
} from "../../../../../protocol/algorithms.ts";
import { parseDWallet, parsePresignSession } from "../../../../../protocol/chain/chain-objects.ts";
import type { ChainNetwork } from "../../../../chain/fullnodes/network.ts";
import { createNetworkReader } from "../../../../chain/reader.ts";
import { readTreasuryObject } from "../../../../chain/treasury/read-treasury-object.ts";
import { type Finding, type HealthCheck, once } from "../../checks/health-check.ts";
import type { NetworkTarget, NetworkView } from "./network-view.ts";
import { createStandInUser, type StandInUser } from "./stand-in-user.ts";
import {
  type DryRunOutcome,
  describeUse,
  nearLimits,
  type TransactionUse,
  textOf,
  tryCalls,
} from "./try-calls.ts";

/**
 * Returns the checks that dry-run each call of the service, with messages of the client's own cryptography and in full
 * batches. They sign and pay nothing.
 */
export function dryRunChecks(target: NetworkTarget, view: NetworkView): HealthCheck[] {
  const open = once(async () => {
    await view.reader();
    const network = await target.connect();
    return { network, view, batches: target.batches, user: createStandInUser(network) };
  });
  const check = (name: string, look: (subject: Subject) => Promise<Finding>): HealthCheck => ({
    name,
    advice:
      "compare the published Treasury and its configuration with docs/operations/deploy.md, then check again",
    look: async () => look(await open()),
  });
  return [
    check("dry run: key and DKG", lookAtDkg),
    check("dry run: presign", lookAtPresigns),
    check("dry run: share", lookAtShare),
    check("dry run: signature", lookAtSignatures),
  ];
}

interface Subject {
  readonly network: ChainNetwork;
  readonly view: NetworkView;
  readonly user: StandInUser;
  readonly batches: NetworkTarget["batches"];
}

async function lookAtDkg({ network, user }: Subject): Promise<Finding> {
  const uses = new Map<string, TransactionUse>();
  for (const curve of CURVES) {
    const number = curveNumber(curve);
    const { signature, encryptionKey, signerPublicKey, ...dkg } = await user.requestDkg(curve);
    const outcome = await tryCalls(network, (calls) => {
      calls.registerEncryptionKey({ curve: number, encryptionKey, signature, signerPublicKey });
      calls.payDkg({ ...dkg, signerPublicKey, curve: number, requestReference: randomBytes(16) });
    });
    uses.set(curve, succeeded(outcome, `${curve}: a made-up key and its DKG`));
  }
  return judged("the chain registers a made-up key on each curve, and the Treasury pays for its DKG", uses);
}

async function lookAtPresigns({ network, batches }: Subject): Promise<Finding> {
  const { id: networkEncryptionKeyId } = await createNetworkReader(network).networkKey();
  const uses = new Map<string, TransactionUse>();
  for (const { signatureAlgorithm, curveNumber: curve, signatureAlgorithmNumber } of CURVE_ALGORITHMS) {
    const outcome = await tryCalls(network, (calls) =>
      calls.payPresigns({
        networkEncryptionKeyId,
        curve,
        signatureAlgorithm: signatureAlgorithmNumber,
        sessionBytes: Array.from({ length: batches.presigns }, () => randomBytes(32)),
      }),
    );
    uses.set(signatureAlgorithm, succeeded(outcome, `${batches.presigns} of ${signatureAlgorithm}`));
  }
  return judged(`the Treasury pays for batches of ${batches.presigns}`, uses, "PRESIGN_BATCH_SIZE");
}

async function lookAtShare({ network }: Subject): Promise<Finding> {
  const outcome = await tryCalls(network, (calls) =>
    calls.acceptEncryptedUserShare({
      dwalletId: unknownId(),
      encryptedUserSecretKeyShareId: unknownId(),
      userOutputSignature: new Uint8Array(64),
    }),
  );
  return aborted(outcome, "an unknown dWallet");
}

const MESSAGE_BYTES = 32;
/** The length of a half whose content the chain does not read. */
const FILLER_BYTES = 64;

/** Dry-runs a batch for each algorithm for which the Treasury holds a dWallet and a presign. */
async function lookAtSignatures(subject: Subject): Promise<Finding> {
  const { network, user, batches } = subject;
  const held = await readHeld(subject);
  const uses = new Map<string, TransactionUse>();
  for (const triple of CURVE_ALGORITHMS.map(tripleOf)) {
    const presigns = held.presigns.filter((presign) => isOf(presign, triple)).slice(0, batches.signs);
    const [first] = presigns;
    const dwallet = held.dwallets.find(
      ({ curveNumber: curve, networkEncryptionKeyId }) =>
        curve === triple.curveNumber && networkEncryptionKeyId === held.networkEncryptionKeyId,
    );
    if (first === undefined || dwallet === undefined) continue;
    const message = randomBytes(MESSAGE_BYTES);
    const { output: dwalletOutput, networkEncryptionKeyId } = dwallet;
    const made = { triple, message, dwalletOutput, networkEncryptionKeyId, presign: first.output };
    // One half serves the whole batch, because the chain does not read it.
    const userSignMessage = await user.makeHalf(made);
    const {
      curveNumber: curve,
      signatureAlgorithmNumber: signatureAlgorithm,
      hashNumber: hashScheme,
    } = triple;
    const outcome = await tryCalls(network, (calls) => {
      for (const { id: presignId } of presigns)
        calls.paySign({
          dwalletId: dwallet.id,
          presignId,
          curve,
          signatureAlgorithm,
          hashScheme,
          message,
          userSignMessage,
          sessionBytes: randomBytes(32),
          requestReference: randomBytes(36),
        });
    });
    const what = `${presigns.length} of ${triple.signatureAlgorithm}`;
    uses.set(what, succeeded(outcome, what));
  }
  if (uses.size === 0) return lookAtUnknownDWallet(subject);
  return judged("the Treasury pays for halves of a made-up user", uses, "SUBMIT_BATCH_SIZE");
}

async function lookAtUnknownDWallet({ network }: Subject): Promise<Finding> {
  const outcome = await tryCalls(network, (calls) =>
    calls.paySign({
      dwalletId: unknownId(),
      presignId: unknownId(),
      curve: 0,
      signatureAlgorithm: 0,
      hashScheme: 0,
      message: new Uint8Array(MESSAGE_BYTES),
      userSignMessage: new Uint8Array(FILLER_BYTES),
      sessionBytes: randomBytes(32),
      requestReference: randomBytes(16),
    }),
  );
  const { found } = aborted(outcome, "an unknown dWallet");
  const missing =
    "the Treasury holds no presign with a dWallet on its curve: run `tss try`, then check again for a real signature";
  return { status: "info", found: `${found}; ${missing}` };
}

/** Objects of the first page of the Treasury's tables that a signature could use. */
interface HeldObjects {
  /** The network's newest key, under which new presigns are made. */
  readonly networkEncryptionKeyId: string;
  readonly dwallets: readonly HeldDWallet[];
  readonly presigns: readonly HeldPresign[];
}

interface HeldDWallet {
  readonly id: string;
  readonly curveNumber: number;
  readonly networkEncryptionKeyId: string;
  readonly output: Uint8Array;
}

interface HeldPresign {
  readonly id: string;
  readonly curveNumber: number;
  readonly signatureAlgorithmNumber: number;
  readonly output: Uint8Array;
}

async function readHeld({ network, view }: Subject): Promise<HeldObjects> {
  const { dwalletsId, presignCapsId } = await readTreasuryObject(network.client, network.treasury.treasuryId);
  const reader = await view.reader();
  const dwallets = await reader.getObjects(await view.idsIn(dwalletsId));
  const presigns = await reader.getObjects(await view.idsIn(presignCapsId));
  return {
    networkEncryptionKeyId: (await createNetworkReader(network).networkKey()).id,
    dwallets: [...dwallets.values()].flatMap((content) => {
      const { state, ...dwallet } = parseDWallet(content);
      return state.kind === "Active" ? [{ ...dwallet, output: state.publicOutput }] : [];
    }),
    presigns: [...presigns.values()].flatMap((content) => {
      const { state, ...presign } = parsePresignSession(content);
      return state.kind === "Completed" ? [{ ...presign, output: state.output }] : [];
    }),
  };
}

type Numbers = Pick<AlgorithmTriple, "curveNumber" | "signatureAlgorithmNumber">;

const isOf = (presign: Numbers, triple: Numbers): boolean =>
  presign.curveNumber === triple.curveNumber &&
  presign.signatureAlgorithmNumber === triple.signatureAlgorithmNumber;

function tripleOf(algorithm: Numbers): AlgorithmTriple {
  const triple = ALGORITHM_TRIPLES.find((each) => isOf(each, algorithm));
  if (triple === undefined) throw new Error("an algorithm has no triple");
  return triple;
}

/** Returns what a successful dry run uses. */
function succeeded(outcome: DryRunOutcome, what: string): TransactionUse {
  if (outcome.kind === "done") return outcome.use;
  throw new Error(`${what}: ${textOf(outcome.failure)}`);
}

/** Lists what each transaction uses. Warns if one comes close to a limit of Sui, which a batch size could lower. */
function judged(what: string, uses: ReadonlyMap<string, TransactionUse>, batchSize?: string): Finding {
  const found = `${what}: ${[...uses].map(([name, use]) => `${name} ${describeUse(use)}`).join("; ")}`;
  const near = [...uses].flatMap(([name, use]) => nearLimits(use).map((limit) => `${name}: ${limit}`));
  if (near.length === 0) return { status: "ok", found };
  const advice = `close to a limit of Sui: ${near.join("; ")}${batchSize === undefined ? "" : `; lower ${batchSize}`}`;
  return { status: "warn", found, advice };
}

/** An abort in Move proves that the function exists and takes these arguments. */
function aborted(outcome: DryRunOutcome, because: string): Finding {
  if (outcome.kind === "done") throw new Error(`the call succeeds despite ${because}`);
  const { abort } = outcome.failure;
  if (abort === undefined) throw new Error(textOf(outcome.failure));
  return {
    status: "ok",
    found: `the chain accepts the arguments and refuses ${because} (${abort.module}, code ${abort.code})`,
  };
}

function unknownId(): string {
  return `0x${randomBytes(32).toString("hex")}`;
}
