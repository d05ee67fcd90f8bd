import type { Route } from "../route.ts";

/** The operator's pages, in the order of the menu. */
export const OPERATOR_ROUTES: readonly Route[] = [
  {
    path: "",
    menu: "",
    title: "Overview",
    load: async () => (await import("./overview-page.tsx")).OverviewPage,
  },
  {
    path: "signatures",
    menu: "signatures",
    title: "Signatures",
    load: async () => (await import("./signatures-page.tsx")).SignaturesPage,
  },
  {
    path: "presigns",
    menu: "presigns",
    title: "Presigns",
    load: async () => (await import("./presigns-page.tsx")).PresignsPage,
  },
  {
    path: "lanes",
    menu: "lanes",
    title: "Lanes and outbox",
    load: async () => (await import("./lanes-page.tsx")).LanesPage,
  },
  {
    path: "treasury",
    menu: "treasury",
    title: "Treasury and gas",
    load: async () => (await import("./treasury-page.tsx")).TreasuryPage,
  },
  {
    path: "transactions",
    menu: "transactions",
    title: "Transactions",
    load: async () => (await import("./transactions-page.tsx")).TransactionsPage,
  },
  {
    path: "money",
    menu: "money",
    title: "Money",
    load: async () => (await import("./money-page.tsx")).MoneyPage,
  },
  {
    path: "projects",
    menu: "projects",
    title: "Projects",
    load: async () => (await import("./projects-page.tsx")).ProjectsPage,
  },
  {
    path: "projects",
    menu: "projects",
    title: "Project",
    hasId: true,
    load: async () => (await import("./project-page.tsx")).ProjectPage,
  },
  {
    path: "admin-keys",
    menu: "admin-keys",
    title: "Admin keys",
    load: async () => (await import("./admin-keys-page.tsx")).AdminKeysPage,
  },
  {
    path: "audit",
    menu: "audit",
    title: "Audit trail",
    load: async () => (await import("./audit-page.tsx")).AuditPage,
  },
  {
    path: "audit",
    menu: "audit",
    title: "Audit event",
    hasId: true,
    load: async () => (await import("./audit-event-page.tsx")).AuditEventPage,
  },
  {
    path: "seals",
    menu: "audit",
    title: "Seals",
    load: async () => (await import("./seals-page.tsx")).SealsPage,
  },
];
