-- A dWallet is looked for by its project and its object id: of a project with many, each call read all of them.
CREATE INDEX "dwallet_project_id_object_id_idx" ON "dwallet"("project_id", "object_id");
