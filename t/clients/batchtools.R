# batchtools: an array of jobs, their results, a job that fails, a job that is killed
# needs: Rscript
suppressPackageStartupMessages(library(batchtools))
options(batchtools.progress = FALSE, batchtools.verbose = FALSE)
writeLines(c(
    "#!/bin/bash",
    "#SBATCH --job-name=<%= job.name %>",
    "#SBATCH --output=<%= log.file %>",
    "#SBATCH --error=<%= log.file %>",
    "#SBATCH --time=<%= ceiling(resources$walltime / 60) %>",
    "#SBATCH --ntasks=1",
    "#SBATCH --cpus-per-task=<%= resources$ncpus %>",
    "#SBATCH --mem-per-cpu=<%= resources$memory %>",
    "<%= if (array.jobs) sprintf(\"#SBATCH --array=1-%i\", nrow(jobs)) else \"\" %>",
    "Rscript -e 'batchtools::doJobCollection(\"<%= uri %>\")'"
), "slurm.tmpl")
registry <- makeRegistry(file.dir = "registry", seed = 1)
registry$cluster.functions <- makeClusterFunctionsSlurm("slurm.tmpl", array.jobs = TRUE, nodename = "localhost")
resources <- list(walltime = 300, memory = 80, ncpus = 1)

square <- function(x) {
    if (x == 4) stop("on purpose")
    if (x == 5) Sys.sleep(200)
    c(x * x, as.integer(Sys.getenv("SLURM_ARRAY_TASK_ID", "0")))
}
ids <- batchMap(square, x = 1:5, reg = registry)

array <- ids[1:3]
array$chunk <- 1L
submitJobs(array, resources = c(resources, chunks.as.arrayjobs = TRUE), reg = registry)
stopifnot(waitForJobs(array, sleep = 1, timeout = 120, reg = registry))
results <- do.call(rbind, reduceResultsList(array, reg = registry))
cat("squares:", results[, 1], "tasks:", results[, 2], "\n")
stopifnot(results[, 1] == c(1, 4, 9), results[, 2] == 1:3)

submitJobs(ids[4], resources = resources, reg = registry)
stopifnot(!waitForJobs(ids[4], sleep = 1, timeout = 60, reg = registry))
cat("failure:", grepl("on purpose", getErrorMessages(ids[4], reg = registry)$message), "\n")

submitJobs(ids[5], resources = resources, reg = registry)
deadline <- Sys.time() + 60
while (nrow(findRunning(ids[5], reg = registry)) == 0) {
    stopifnot(Sys.time() < deadline)
    Sys.sleep(0.5)
}
stopifnot(nrow(killJobs(ids[5], reg = registry)) == 1)
while (nrow(findOnSystem(ids[5], reg = registry)) > 0) {
    stopifnot(Sys.time() < deadline)
    Sys.sleep(0.5)
}
cat("killed:", nrow(findOnSystem(reg = registry)), "on the system\n")
