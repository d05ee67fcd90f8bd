import type { JSX } from "preact";
import type { PresignBucket } from "../../../gen/client/tss/v1/admin_pb.ts";
import { SignStageFigures_Stage as Stage } from "../../../gen/client/tss/v1/operations_pb.ts";
import { SignRequest_Status as Status } from "../../../gen/client/tss/v1/signing_pb.ts";
import { useOnNetwork, useSession } from "../api/session.ts";
import { useCall } from "../api/use-call.ts";
import { formatDuration } from "../format/text.ts";
import { Stat, Stats } from "../ui/facts.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Panel } from "../ui/panel.tsx";
import { Age } from "../ui/time.tsx";
import { countOf, windowStart } from "./sign-series.ts";

/** A summary of the signatures of the last hour, the pool and the outbox. */
export function ActivityPanel(): JSX.Element {
  const { admin, operations } = useSession();
  const onNetwork = useOnNetwork();
  const activity = useCall(
    async (signal) => {
      const [statistics, { buckets }, outbox] = await Promise.all([
        operations.getSignStatistics({ startTime: windowStart("3600", Date.now()) }, { signal }),
        admin.getPresignHealth({}, { signal }),
        operations.getOutbox({}, { signal }),
      ]);
      return { total: statistics.total, buckets, outbox };
    },
    [],
    { everyMs: 10_000 },
  );
  return (
    <Panel title={`Activity${onNetwork}`} note="Signatures are those of the last hour.">
      <Loaded call={activity} lines={3}>
        {({ total, buckets, outbox }) => {
          const signed = total?.stages.find(({ stage }) => stage === Stage.signed);
          const waiting = outbox.entries.reduce((sum, { count }) => sum + count, 0);
          const [oldest] = outbox.entries
            .flatMap(({ oldestCreateTime }) => oldestCreateTime ?? [])
            .sort((a, b) => Number(a.seconds - b.seconds));
          return (
            <Stats>
              <Stat
                name="Signatures"
                value={<a href="#/signatures">{countOf(total, Status.completed).toLocaleString("en")}</a>}
                note={`${countOf(total, Status.failed).toLocaleString("en")} failed`}
              />
              <Stat
                name="Time to sign, p99"
                value={signed === undefined ? "—" : formatDuration(signed.p99Seconds * 1_000)}
                note={
                  signed === undefined ? "no signature" : `p50 ${formatDuration(signed.p50Seconds * 1_000)}`
                }
              />
              <Stat
                name="Presigns ready"
                value={
                  <a href="#/presigns">
                    {buckets.reduce((sum, { ready }) => sum + ready, 0).toLocaleString("en")}
                  </a>
                }
                note={stockOf(buckets)}
              />
              <Stat
                name="Outbox"
                value={<a href="#/lanes">{waiting.toLocaleString("en")}</a>}
                note={
                  oldest === undefined ? (
                    "nothing waits"
                  ) : (
                    <>
                      oldest <Age of={oldest} at={outbox.readTime} />
                    </>
                  )
                }
              />
            </Stats>
          );
        }}
      </Loaded>
    </Panel>
  );
}

/** A bucket without presigns that nobody keeps warm is not low, but not stocked either. */
function stockOf(buckets: readonly PresignBucket[]): string {
  const low = buckets.filter(({ ready, lowWater }) => ready < lowWater);
  if (buckets.length === 0) return "no bucket is in use yet";
  if (low.length > 0) return `${low.length} of ${buckets.length} buckets are low`;
  const empty = buckets.filter(({ ready }) => ready === 0);
  if (empty.length > 0) return `${empty.length} of ${buckets.length} buckets are empty`;
  return "every bucket is stocked";
}
