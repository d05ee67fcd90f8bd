import { createHash } from "node:crypto";
import type { OperationKind } from "../../../../src/service/chain/operation.ts";
import type { ExecutionFailure } from "../../../../src/service/chain/outcome.ts";
import { DryRunRefused } from "../../../../src/service/chain/submit/build-transaction.ts";
import type { Lane } from "../../../../src/service/chain/submit/lane.ts";
import type { SendResult } from "../../../../src/service/chain/submit/send-transaction.ts";
import type { OwnedRef } from "../../../../src/service/chain/treasury/treasury-calls.ts";

/** The address of the fake chain's one lane. */
export const NETWORK = "localnet";
/** Its OperatorCap. */
export const LANE = "0xcap";

/** A chain that executes each transaction once, and a kind of operation whose subjects are only ids. */
export class FakeChain {
  built = 0;
  readonly sent: { digest: string; bytes: Uint8Array }[] = [];
  readonly executed: string[] = [];
  readonly landed: string[] = [];
  readonly failed: string[] = [];
  refuse: ((subjects: readonly string[]) => ExecutionFailure | undefined) | undefined;
  abortOnExecution: ((subjects: readonly string[]) => ExecutionFailure | undefined) | undefined;
  onSend: ((digest: string) => Promise<SendResult>) | undefined;
  onLanded: (() => void) | undefined;
  onEnded: ((subjectId: string) => void) | undefined;
  missing: string | undefined;
  hasMark = false;
  /** While set, a look-up of a mark throws this error. */
  mixUp: Error | undefined;
  sizeBytes = 100;
  written = new Map<string, OwnedRef>();
  /** The objects whose version on the chain differs from the one that the lane expects. */
  objects: { version: string; lastChange: string } | undefined;
  readonly #subjectsOf = new Map<string, readonly string[]>();

  lane(): Lane {
    return {
      network: NETWORK,
      sender: "0x1",
      id: LANE,
      build: async (_objects, { addCalls }, trial) => {
        const subjects: string[] = [];
        addCalls({ payPresigns: (call: { subjects: string[] }) => subjects.push(...call.subjects) } as never);
        const failure = trial === "dry-run" ? this.refuse?.(subjects) : undefined;
        if (failure) throw new DryRunRefused(failure);
        const bytes = new TextEncoder().encode(`${++this.built}:${subjects.join()}`);
        const digest = createHash("sha256").update(bytes).digest("hex");
        this.#subjectsOf.set(digest, subjects);
        return { digest, sender: "0x1", bytes, signatures: ["signature"] };
      },
      send: async ({ digest, bytes }) => {
        this.sent.push({ digest, bytes });
        return this.onSend ? this.onSend(digest) : this.execute(digest);
      },
    };
  }

  transaction = async () => undefined;

  async ownedObjects(ids: readonly string[]) {
    const found = this.objects && { ...this.objects, digest: "d" };
    return new Map(found ? ids.map((objectId) => [objectId, { objectId, ...found }]) : []);
  }

  async execute(digest: string): Promise<SendResult> {
    const subjects = this.#subjectsOf.get(digest) ?? [];
    const error = (this.abortOnExecution ?? this.refuse)?.(subjects);
    const changes = {
      inputVersions: new Map(),
      written: this.written,
      owners: new Map(),
      deleted: [],
      dependencies: [],
    };
    if (error) return { kind: "aborted", error, gasUsedMist: 1n, changes };
    if (!this.executed.includes(digest)) this.executed.push(digest);
    return { kind: "landed", transaction: { digest, version: 1n, events: [] }, gasUsedMist: 1n, changes };
  }

  kind(): OperationKind<string> {
    return {
      name: "presign",
      priority: 50,
      batchCount: 10,
      load: async (_sql, ids) => new Map(ids.filter((id) => id !== this.missing).map((id) => [id, id])),
      sizeBytes: () => this.sizeBytes,
      add: (calls, subjects) => calls.payPresigns({ subjects } as never),
      landed: async (_sql, subjects) => {
        this.onLanded?.();
        this.landed.push(...subjects);
      },
      failed: async (_sql, subject) => void this.failed.push(subject),
      adopt: async () => {
        if (this.mixUp !== undefined) throw this.mixUp;
        return this.hasMark;
      },
      ended: (subject) => this.onEnded?.(subject),
    };
  }
}
