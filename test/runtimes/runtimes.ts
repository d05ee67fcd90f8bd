/** Where the client runs, besides Node and the browsers of the other tests. */
export function runtimes(): readonly Runtime[] {
  return [
    ...["20.19.6", "22.23.3", "24.21.0", "26.10.0"].flatMap((version): Runtime[] => {
      const packages = { [NODE_PACKAGE]: version };
      const node = `node_modules/${NODE_PACKAGE}/bin/node`;
      const [major = ""] = version.split(".");
      return [
        { name: `Node ${major}`, packages, sign: ({ run }) => run(node, ["print.mjs"]) },
        { name: `Node ${major}, require()`, packages, sign: ({ run }) => run(node, ["required.cjs"]) },
      ];
    }),
    {
      name: "Bun",
      packages: { bun: "1.4.5" },
      installOptions: SCRIPTS,
      sign: ({ run, bin }) => run(bin("bun"), ["print.mjs"]),
    },
    {
      name: "Deno",
      packages: { deno: "2.9.6" },
      installOptions: SCRIPTS,
      sign: ({ run, bin }) => run(bin("deno"), ["run", "--allow-all", "print.mjs"]),
    },
    {
      name: "workerd (miniflare)",
      packages: { miniflare: "4.20260730.0", esbuild: "0.28.2" },
      installOptions: SCRIPTS,
      sign: ({ run }) => run(process.execPath, ["workerd.mjs"]),
    },
    {
      name: "Metro and Hermes",
      packages: {
        metro: "0.87.1",
        "hermes-compiler": "260318099.0.8",
        "@react-native/metro-babel-transformer": "0.88.1",
        "@react-native/babel-preset": "0.88.1",
        "@babel/core": "7.29.13",
      },
      sign: ({ run }) => run(process.execPath, ["metro.mjs"]),
    },
    {
      name: "Jest, CommonJS",
      packages: { jest: "30.5.2" },
      sign: ({ run, bin }) => run(bin("jest"), ["--testMatch", "**/in-jest.js"]),
    },
    {
      name: "webpack",
      packages: { webpack: "5.112.2" },
      sign: ({ run }) => run(process.execPath, ["webpack.mjs"]),
    },
    { name: "Vite", packages: { vite: "8.3.8" }, sign: ({ run }) => run(process.execPath, ["vite.mjs"]) },
    {
      name: "Next.js",
      packages: { next: "16.4.6", react: "19.3.1", "react-dom": "19.3.1" },
      sign: ({ run }) => run(process.execPath, ["next.mjs"]),
    },
  ];
}

/** A runtime, or a tool that builds for one. */
export interface Runtime {
  readonly name: string;
  /** The packages to install, with their exact versions. */
  readonly packages: Readonly<Record<string, string>>;
  readonly installOptions?: readonly string[];
  /** Signs in its folder, and returns what it printed. Throws if it fails or warns. */
  sign(place: Place): string;
}

/** The folder of a runtime, with its packages, the client and the programs. */
export interface Place {
  run(program: string, argv: readonly string[]): string;
  /** Returns the path of an installed program. */
  bin(program: string): string;
}

/** The package with the binary of Node for this machine. */
const NODE_PACKAGE = `node-${process.platform}-${process.arch}`;
/** For packages whose installation fetches a binary. */
const SCRIPTS = ["--ignore-scripts=false"];
