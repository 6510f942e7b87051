/* interrupt.h - what is said when a run is stopped by SIGINT or SIGTERM. */
#ifndef GPUPLAN_CLI_INTERRUPT_H
#define GPUPLAN_CLI_INTERRUPT_H

/* From now on the two signals end the process as before (the shell sees 130 and 143), after one line on stderr if
 * interrupt_resumable was called. A signal that the caller has told us to ignore stays ignored. */
void interrupt_watch(void);

/* There is something on disk that --resume goes on with. */
void interrupt_resumable(void);

/* The run has ended: the line is not said any more. */
void interrupt_over(void);

#endif
