import { existsSync } from "node:fs";
import path from "node:path";
import { ROOT } from "../support/repository/source-files.ts";
import type { ContainerStore } from "./container-store.ts";
import { runCommand } from "./run-command.ts";

/**
 * The bases of the Dockerfile. If undefined: those that `deploy/image/make-bases.sh` makes, or, if its tool is missing,
 * the Dockerfile's own, from a registry.
 */
export interface Bases {
  readonly buildBase: string | undefined;
  readonly base: string | undefined;
}

const CERTIFICATES = "/etc/ssl/certs";

/** Builds the image from this checkout and returns its name. */
export async function buildImage(store: ContainerStore, bases: Bases): Promise<string> {
  const own = (await hasMmdebstrap(store)) ? await makeBases(store) : undefined;
  const { base = own?.base, buildBase = own?.buildBase } = bases;
  const name = "localhost/threshold-signing-service:test";
  // A registry behind this machine's proxy may have a certificate that only this machine knows.
  const bundle = path.join(CERTIFICATES, "ca-certificates.crt");
  const trust = existsSync(bundle)
    ? ["--volume", `${CERTIFICATES}:${CERTIFICATES}:ro`, "--build-arg", `NODE_EXTRA_CA_CERTS=${bundle}`]
    : [];
  const settings = ["--isolation", "chroot", "--layers", "--format", "docker", "--network", "host"];
  const given = { BASE: base, BUILD_BASE: buildBase };
  const names = Object.entries(given).flatMap(([key, value]) =>
    value === undefined ? [] : ["--build-arg", `${key}=${value}`],
  );
  await store.buildah(["bud", ...settings, ...trust, ...names, "--tag", name, ROOT], true);
  return name;
}

async function hasMmdebstrap({ environment }: ContainerStore): Promise<boolean> {
  return await runCommand("mmdebstrap", ["--version"], { environment }).then(
    () => true,
    () => false,
  );
}

/** Makes both bases from Debian's packages, unless the store already has them. */
async function makeBases(store: ContainerStore): Promise<Bases> {
  const bases = { base: "localhost/tss-base", buildBase: "localhost/tss-build-base" };
  const images = await store.buildah(["images", "--format", "{{.Name}}"]);
  if (Object.values(bases).every((name) => images.split("\n").includes(name))) return bases;
  await runCommand(path.join(ROOT, "deploy/image/make-bases.sh"), [], {
    shown: true,
    environment: { ...store.environment, BUILDAH_OPTIONS: store.options.join(" ") },
  });
  return bases;
}
