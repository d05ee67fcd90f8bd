import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type Operations,
  GetReadinessResponse_Status as ReadinessStatus,
} from "../../gen/proto/tss/v1/operations_pb.ts";
import { callerOf } from "../access/caller.ts";
import { wantedBucket } from "../admin/wanted-bucket.ts";
import { BUILD_INFO } from "../health/build-info.ts";
import type { Readiness } from "../health/readiness.ts";
import { readOutboxFigures } from "../observe/read-database-figures.ts";
import type { Database } from "../store/database.ts";
import { encodePresignHistory, encodeTreasuryHistory } from "./encode-history.ts";
import { encodeLanes, encodeOutbox } from "./encode-lanes.ts";
import { encodeMoney } from "./encode-money.ts";
import { encodeSignStatistics } from "./encode-sign-statistics.ts";
import { readLaneStatuses } from "./read-lane-statuses.ts";
import { readMoney } from "./read-money.ts";
import { readPresignHistory } from "./read-presign-history.ts";
import { readSignStatistics } from "./read-sign-statistics.ts";
import { readTreasuryHistory } from "./read-treasury-history.ts";
import { createRecentReads } from "./recent-reads.ts";
import { PRESIGN_SAMPLE_DAYS } from "./sample-presigns.ts";
import { TREASURY_SAMPLE_DAYS } from "./sample-treasury.ts";
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

export interface OperationsServiceDeps {
  readonly database: Pick<Database, "transaction">;
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

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
