# clustermq: calls on an array of workers, a call that fails, a pool of workers, workers that are cancelled by their name
# needs: Rscript
# r-needs: clustermq
options(clustermq.scheduler = "slurm", clustermq.host = "127.0.0.1")
suppressPackageStartupMessages(library(clustermq))

square <- function(x, offset) c(x * x + offset, as.integer(Sys.getenv("SLURM_ARRAY_TASK_ID", "0")))
results <- do.call(rbind, Q(square, x = 1:6, const = list(offset = 100), n_jobs = 2, memory = 400, chunk_size = 1,
    log_worker = TRUE, timeout = 120, verbose = FALSE))
cat("squares:", results[, 1], "\n")
stopifnot(results[, 1] == (1:6)^2 + 100, results[, 2] %in% 1:2)
cat("logs:", length(list.files(pattern = "^cmq.*-[12][.]log$")), "\n")

failing <- function(x) if (x == 2) stop("on purpose") else x
answers <- suppressWarnings(Q(failing, x = 1:3, n_jobs = 1, memory = 400, fail_on_error = FALSE, timeout = 120,
    verbose = FALSE))
cat("failure:", inherits(answers[[2]], "error"), "others:", answers[[1]], answers[[3]], "\n")
stopifnot(inherits(answers[[2]], "error"), answers[[1]] == 1, answers[[3]] == 3)

pool <- workers(n_jobs = 2, template = list(memory = 400, cores = 2), reuse = TRUE, verbose = FALSE)
cores <- function(x) as.integer(Sys.getenv("SLURM_CPUS_PER_TASK"))
first <- unlist(Q(cores, x = 1:4, workers = pool, timeout = 120, verbose = FALSE))
second <- unlist(Q(function(x) x + 1, x = 1:4, workers = pool, timeout = 120, verbose = FALSE))
cat("cores:", first, "again:", second, "\n")
stopifnot(first == 2, second == 2:5)
pool$cleanup()

queue <- function() system2("squeue", c("--me", "--noheader", "--format=%j"), stdout = TRUE)
stuck <- try(Q(function(x) Sys.sleep(250), x = 1, n_jobs = 1, memory = 400, timeout = 5, verbose = FALSE), silent = TRUE)
stopifnot(inherits(stuck, "try-error"))
deadline <- Sys.time() + 60
while (length(queue()) > 0) {
    stopifnot(Sys.time() < deadline)
    Sys.sleep(0.5)
}
cat("time limit:", class(stuck), "in the queue:", length(queue()), "\n")
