import { readFileSync } from "node:fs";
import { parse } from "yaml";

type Parts = Readonly<Record<string, unknown>>;
interface Collector {
  readonly receivers?: Parts;
  readonly processors?: Parts;
  readonly exporters?: Parts;
  readonly service?: { readonly pipelines?: Readonly<Record<string, Readonly<Record<string, string[]>>>> };
}

const KINDS = ["receivers", "processors", "exporters"] as const;
const SECTIONS = [...KINDS, "service"];

/** Returns the faults of an OpenTelemetry Collector configuration: sections and parts that are undefined or unused. */
export function checkCollector(file: string): string[] {
  const collector = parse(readFileSync(file, "utf8")) as Collector;
  const unknown = Object.keys(collector).filter((section) => !SECTIONS.includes(section));
  const pipelines = Object.values(collector.service?.pipelines ?? {});
  const faults = KINDS.flatMap((kind) => {
    const defined = Object.keys(collector[kind] ?? {});
    const used = pipelines.flatMap((pipeline) => pipeline[kind] ?? []);
    return [
      ...used.filter((name) => !defined.includes(name)).map((name) => `${kind}: ${name} is not defined`),
      ...defined.filter((name) => !used.includes(name)).map((name) => `${kind}: ${name} is not used`),
    ];
  });
  return [...unknown.map((section) => `no section is called ${section}`), ...faults].map(
    (fault) => `${file}: ${fault}`,
  );
}
