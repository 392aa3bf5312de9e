/* The dynamics of @MECHANISM@, exported by robodyn @VERSION@: SI units, radians, base frame z up.

   Every function returns @UPPER@_OK or another status; @NAME@_status_text returns its text. No
   function allocates memory, takes a lock or keeps state: call them at any priority, from any
   thread. Results are written to the last arguments, and are undefined if the status is an error.
   Wrenches are exerted by the surroundings on the mechanism. Matrices are stored by rows.

@COORDINATES@ */
#ifndef @UPPER@_H
#define @UPPER@_H

#ifdef __cplusplus
extern "C" {
#endif

#define @UPPER@_VERSION "@VERSION@"
@SIZES@

typedef enum {
@STATUSES@
} @NAME@_status;

/* Text of a status, in English; never NULL. */
const char *@NAME@_status_text(int status);

@JOINTS@
extern const char *const @NAME@_joint_names[@UPPER@_N];
extern const double @NAME@_home[@UPPER@_NQ];                /* home configuration */
extern const double @NAME@_position_limits[@UPPER@_N][2];   /* [rad or m] lower, upper */
extern const double @NAME@_velocity_limits[@UPPER@_N];      /* [rad/s or m/s] */
extern const double @NAME@_effort_limits[@UPPER@_N];        /* [N m or N], may be infinite */
extern const double @NAME@_effort_range[@UPPER@_N][2];      /* smallest, largest; cables can only pull */@MOTORS@

@FUNCTIONS@

#ifdef __cplusplus
}
#endif

#endif
