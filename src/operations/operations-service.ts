import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type Operations,
  GetReadinessResponse_Status as ReadinessStatus,
} from "../../gen/proto/tss/v1/operations_pb.ts";
import { callerOf } from "../access/caller.ts";
import { BUILD_INFO } from "../health/build-info.ts";
import type { Readiness } from "../health/readiness.ts";
import { readOutboxFigures } from "../observe/read-database-figures.ts";
import type { Database } from "../store/database.ts";
import { encodeLanes, encodeOutbox } from "./encode-lanes.ts";
import { encodeSignStatistics } from "./encode-sign-statistics.ts";
import { readLaneStatuses } from "./read-lane-statuses.ts";
import { readSignStatistics } from "./read-sign-statistics.ts";
import { createRecentReads } from "./recent-reads.ts";
import { timeSteps } from "./time-steps.ts";

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
          reason: check.status === "ok" ? "" : check.reason,
        })),
        version: BUILD_INFO.version,
        commit: BUILD_INFO.commit ?? "",
        processType: deps.processType,
        startTime: timestampFromDate(new Date(performance.timeOrigin)),
        readTime: timestampFromDate(now()),
      };
    },
    async getSignStatistics({ startTime, endTime, stepSeconds }, context) {
      const { network: name } = callerOf(context, "admin");
      const steps = timeSteps(
        { start: startTime && timestampDate(startTime), end: endTime && timestampDate(endTime), stepSeconds },
        { now: now(), defaultMs: HOUR_MS, maxMs: 31 * DAY_MS },
      );
      const { start, end } = steps;
      const reading = ["signs", name, start.getTime(), end.getTime(), steps.stepSeconds].join(" ");
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
  };
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
  /** `api`, `worker` or `all`. */
  readonly processType: string;
  /** Default: the clock of the process. */
  readonly now?: () => Date;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
