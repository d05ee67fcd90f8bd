import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { raw } from "sql-template-tag";
import {
  type Operations,
  GetReadinessResponse_Status as ReadinessStatus,
} from "../../../../gen/proto/tss/v1/operations_pb.ts";
import { callerOf } from "../../access/caller.ts";
import { RecentMap } from "../../platform/coordination/recent-map.ts";
import { DAY_MS, HOUR_MS } from "../../platform/lifecycle/clock.ts";
import { type Database, execute, type Queryable, type Transactor } from "../../platform/store/database.ts";
import { wantedBucket } from "../calls/wanted-bucket.ts";
import { BUILD_INFO } from "../health/build-info.ts";
import type { Readiness } from "../health/readiness.ts";
import { readOutboxFigures } from "../metrics/read-database-figures.ts";
import {
  encodePresignHistory,
  encodeTreasuryHistory,
  readPresignHistory,
  readTreasuryHistory,
} from "./history.ts";
import { encodeLanes, encodeOutbox, readLaneStatuses } from "./lane-statuses.ts";
import { encodeMoney, readMoney } from "./money.ts";
import { PRESIGN_SAMPLE_DAYS, TREASURY_SAMPLE_DAYS } from "./sampling.ts";
import { encodeSignStatistics, readSignStatistics } from "./sign-statistics.ts";
import { type TimeSteps, timeSteps, type WindowBounds } from "./time-steps.ts";

/** Implements `tss.v1.Operations`. */
export function createOperationsService(deps: OperationsServiceDeps): ServiceImpl<typeof Operations> {
  const { database, network, now = () => new Date() } = deps;
  const reads = createRecentReads(database);
  return {
    async getReadiness() {
      const { status, checks } = await deps.readiness();
      return {
        status: ReadinessStatus[status],
        checks: checks.map((check) => ({
          name: check.name,
          ok: check.status === "ok",
          vital: check.isVital,
          reason: check.status === "ok" ? "" : check.reason,
        })),
        version: BUILD_INFO.version,
        commit: BUILD_INFO.commit ?? "",
        processType: deps.processType,
        startTime: timestampFromDate(new Date(performance.timeOrigin)),
        readTime: timestampFromDate(now()),
        networks: [...deps.networks],
      };
    },
    async getSignStatistics(request, context) {
      const { network: name } = callerOf(context, "admin");
      const steps = stepsOf(request, { defaultMs: HOUR_MS, maxMs: 31 * DAY_MS });
      const reading = `signs ${name} ${nameOf(steps)}`;
      return encodeSignStatistics(await reads.read(reading, (db) => readSignStatistics(db, name, steps)));
    },
    async getLanes(_request, context) {
      const { network: name } = callerOf(context, "admin");
      return reads.read(`lanes ${name}`, async (db) =>
        encodeLanes(await readLaneStatuses(db, name), { ...network, readAt: now() }),
      );
    },
    async getOutbox(_request, context) {
      const { network: name } = callerOf(context, "admin");
      return reads.read(`outbox ${name}`, async (db) =>
        encodeOutbox(await readOutboxFigures(db, name), now()),
      );
    },
    async getPresignHistory({ signatureAlgorithmName: wanted, ...request }, context) {
      const { network: name } = callerOf(context, "admin");
      const steps = stepsOf(request, { defaultMs: DAY_MS, maxMs: PRESIGN_SAMPLE_DAYS * DAY_MS });
      const { curve, signatureAlgorithm } = wantedBucket({ signatureAlgorithmName: wanted });
      const only = curve === undefined ? undefined : { curve, signatureAlgorithm: signatureAlgorithm! };
      const reading = `presigns ${name} ${nameOf(steps)} ${wanted}`;
      return reads.read(reading, async (db) =>
        encodePresignHistory(steps, await readPresignHistory(db, name, steps, only)),
      );
    },
    async getTreasuryHistory(request, context) {
      const { network: name } = callerOf(context, "admin");
      const bounds = { defaultMs: 7 * DAY_MS, maxMs: TREASURY_SAMPLE_DAYS * DAY_MS, leastStepSeconds: 600 };
      const steps = stepsOf(request, bounds);
      return reads.read(`treasury ${name} ${nameOf(steps)}`, async (db) =>
        encodeTreasuryHistory(steps, await readTreasuryHistory(db, name, steps)),
      );
    },
    async getMoney(_request, context) {
      const { network: name } = callerOf(context, "admin");
      return reads.read(`money ${name}`, async (db) => encodeMoney(await readMoney(db, name), now()));
    },
  };

  function stepsOf({ startTime, endTime, stepSeconds }: WindowRequest, bounds: Omit<WindowBounds, "now">) {
    const start = startTime && timestampDate(startTime);
    const end = endTime && timestampDate(endTime);
    return timeSteps({ start, end, stepSeconds }, { now: now(), ...bounds });
  }
}

interface WindowRequest {
  readonly startTime?: Timestamp | undefined;
  readonly endTime?: Timestamp | undefined;
  readonly stepSeconds: number;
}

function nameOf({ start, end, stepSeconds }: TimeSteps): string {
  return `${start.getTime()} ${end.getTime()} ${stepSeconds}`;
}

interface OperationsServiceDeps {
  readonly database: Database;
  readonly network: {
    /** The address that sends the transactions. */
    readonly senderAddress: string;
    /** The configured lanes. */
    readonly laneIds: readonly string[];
  };
  readonly readiness: () => Promise<Readiness>;
  /** The names of all served networks. */
  readonly networks: readonly string[];
  /** `api`, `worker` or `all`. */
  readonly processType: string;
  /** Default: the clock of the process. */
  readonly now?: () => Date;
}

/**
 * Creates a cache of costly queries. A result is reused while it is fresh, concurrent callers of the same query share
 * one run, and queries run one after another. So they keep at most one database connection of this process busy,
 * however many callers ask.
 */
export function createRecentReads(
  database: Transactor,
  { freshMs = 2_000, timeoutMs = 5_000, now = () => performance.now() }: RecentReadsOptions = {},
): RecentReads {
  const recent = new RecentMap<string, { readonly result: Promise<unknown>; freshUntilMs: number }>(
    KEPT_COUNT,
  );
  let last: Promise<unknown> = Promise.resolve();
  return {
    read<T>(name: string, work: (db: Queryable) => Promise<T>): Promise<T> {
      const known = recent.get(name);
      if (known !== undefined && now() < known.freshUntilMs) return known.result as Promise<T>;
      const result = last.then(() =>
        database.transaction(async (db) => {
          await execute(db, raw(`SET LOCAL statement_timeout = ${timeoutMs}`));
          return work(db);
        }),
      );
      const entry = { result, freshUntilMs: Number.POSITIVE_INFINITY };
      recent.set(name, entry);
      last = result.then(
        () => {
          entry.freshUntilMs = now() + freshMs;
        },
        () => recent.delete(name),
      );
      return result;
    },
  };
}

interface RecentReadsOptions {
  /** The time for which a result is reused. Default 2 s. */
  readonly freshMs?: number;
  /** The time limit of a statement. Default 5 s. */
  readonly timeoutMs?: number;
  /** A monotonic time in milliseconds. Default: the clock of the process. */
  readonly now?: () => number;
}

/** Reads figures from the database. */
interface RecentReads {
  /**
   * `name` identifies the query and everything that its result depends on. Throws the errors of `work`, and does not
   * cache them.
   */
  read<T>(name: string, work: (db: Queryable) => Promise<T>): Promise<T>;
}

const KEPT_COUNT = 64;
