import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { TracerLog } from "../open-tracing.ts";

/** Wraps an exporter and logs when the receiver begins to fail and when it recovers. Calls are not affected. */
export function tellingExporter(exporter: SpanExporter, log: TracerLog): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== SUCCESS;
        if (failed && !isFailing)
          log.warn({ cause: result.error }, "the trace receiver is unreachable; dropping spans");
        if (!failed && isFailing) log.info({}, "the trace receiver is reachable again");
        isFailing = failed;
        done(result);
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

/** `ExportResultCode.SUCCESS` of @opentelemetry/core. */
const SUCCESS = 0;
