/* Prints the efforts that hold the mechanism at home:
     cc example.c -I. -L. -l@NAME@ -Wl,-rpath,'$ORIGIN' -o example && ./example */
#include <stdio.h>

#include "@NAME@.h"

int main(void) {
  double rest[@UPPER@_NV] = {0.0}, efforts[@UPPER@_N];
  int status = @NAME@_inverse_dynamics(@NAME@_home, rest, rest, NULL, NULL, efforts);
  if (status != @UPPER@_OK) {
    fprintf(stderr, "%s\n", @NAME@_status_text(status));
    return 1;
  }
  for (int i = 0; i < @UPPER@_N; i++) printf("%s %.9g\n", @NAME@_joint_names[i], efforts[i]);
  return 0;
}
